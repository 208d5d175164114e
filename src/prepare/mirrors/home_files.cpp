// Which files below HOME say where packages come from, and how each says it.
#include <algorithm>
#include <utility>

#include "base/text/display_text.hpp"
#include "prepare/mirrors/managed_file.hpp"

namespace cove::prepare {
namespace {

/// "host:port" of an http(s) URL.
std::string host_of(const std::string& url) {
  std::string rest = url.substr(url.find("://") + 3);
  rest = rest.substr(0, std::min(rest.find_first_of("/?"), rest.size()));
  const std::size_t at = rest.rfind('@');
  return at == std::string::npos ? rest : rest.substr(at + 1);
}

bool is_plain_http(const std::string& url) { return url.starts_with("http://"); }

std::string with_slash(const std::string& url) { return url.ends_with('/') ? url : url + "/"; }

/// `before` + url + `after`, or nothing where no mirror is given.
std::string line_of(const std::string& before, const std::string& url, const char* after = "") {
  return url.empty() ? std::string() : before + url + after;
}

ManagedFile settings_file(const char* id, const char* path, Language language,
                          std::vector<ManagedSetting> settings) {
  ManagedFile file;
  file.id = id;
  file.path = path;
  file.language = language;
  file.settings = std::move(settings);
  return file;
}

void add_npm(std::vector<ManagedFile>& files, const std::string& url) {
  files.push_back(settings_file("npmrc", ".npmrc", Language::kNpmrc,
                                {{{"", "registry"}, line_of("registry=", url)}}));
  files.push_back(settings_file("yarnrc", ".yarnrc", Language::kYarnrc,
                                {{{"", "registry"}, line_of("registry \"", url, "\"")}}));
  std::vector<ManagedSetting> berry{
      {{"", "npmRegistryServer"}, line_of("npmRegistryServer: \"", url, "\"")}};
  // Yarn 2 and later take http only from hosts that are listed.
  const std::string host = is_plain_http(url) ? host_of(url) : std::string();
  const std::string name =
      host.substr(0, std::min(host.find(':', host.rfind(']') + 1), host.size()));
  berry.push_back(
      {{"", "unsafeHttpWhitelist"}, line_of("unsafeHttpWhitelist:\n  - \"", name, "\""), name});
  files.push_back(settings_file("yarnrc.yml", ".yarnrc.yml", Language::kYaml, std::move(berry)));
  files.push_back(settings_file("bunfig.toml", ".bunfig.toml", Language::kToml,
                                {{{"install", "registry"}, line_of("registry = \"", url, "\"")}}));
}

void add_pypi(std::vector<ManagedFile>& files, const std::string& url) {
  // pip takes http only from hosts that are listed.
  const std::string host = is_plain_http(url) ? host_of(url) : std::string();
  files.push_back(
      settings_file("pip.conf", ".config/pip/pip.conf", Language::kPipConf,
                    {{{"global", "index-url"}, line_of("index-url = ", url)},
                     {{"global", "trusted-host"}, line_of("trusted-host = ", host), host}}));
  files.push_back(settings_file("uv.toml", ".config/uv/uv.toml", Language::kToml,
                                {{{"", "index-url"}, line_of("index-url = \"", url, "\"")}}));
}

void add_others(std::vector<ManagedFile>& files, const Mirrors& mirrors) {
  files.push_back(settings_file("go-env", ".config/go/env", Language::kEnv,
                                {{{"", "GOPROXY"}, line_of("GOPROXY=", mirrors.go, ",direct")}}));
  const std::string index = mirrors.cargo.empty() ? "" : with_slash(mirrors.cargo);
  const char* const source = index.empty() ? "" : "cove-mirror";
  files.push_back(settings_file(
      "cargo-config.toml", ".cargo/config.toml", Language::kToml,
      {{{"source.crates-io", "replace-with"}, line_of("replace-with = \"", source, "\"")},
       {{"source.cove-mirror", "registry"}, line_of("registry = \"sparse+", index, "\"")}}));
  ManagedFile maven;
  maven.id = "maven-settings.xml";
  maven.path = ".m2/settings.xml";
  maven.kind = ManagedFile::Kind::kMaven;
  maven.maven_url = mirrors.maven;
  files.push_back(std::move(maven));
  files.push_back(settings_file(
      "gemrc", ".gemrc", Language::kYaml,
      {{{"", ":sources"},
        mirrors.rubygems.empty() ? "" : ":sources:\n- " + with_slash(mirrors.rubygems)}}));
  const std::string bundler = "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/";
  const std::string gems = mirrors.rubygems.empty() ? "" : with_slash(mirrors.rubygems);
  files.push_back(settings_file("bundle-config", ".bundle/config", Language::kYaml,
                                {{{"", bundler}, line_of(bundler + ": \"", gems, "\"")}}));
}

bool is_plain(char c) {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("-._~:/?@!&*+;=%[]").find(c) != std::string_view::npos;
}

Result<void> check_url(const char* name, const std::string& url) {
  constexpr std::size_t kLongest = 2048;
  if (url.empty()) return ok();
  const std::size_t scheme = url.starts_with("http://") ? 7 : (url.starts_with("https://") ? 8 : 0);
  const bool good = scheme != 0 && url.size() > scheme && url.size() <= kLongest &&
                    std::all_of(url.begin(), url.end(), is_plain) && url[scheme] != '/' &&
                    !host_of(url).empty();
  if (good) return ok();
  return Error(ErrorCode::kInvalidArgument,
               std::string("the mirror of ") + name +
                   " must be an http or https URL of at most 2048 letters, digits and "
                   "-._~:/?@!&*+;=%[]");
}

}  // namespace

std::vector<ManagedFile> home_files(const Mirrors& mirrors) {
  std::vector<ManagedFile> files;
  add_npm(files, mirrors.npm);
  add_pypi(files, mirrors.pypi);
  add_others(files, mirrors);
  return files;
}

Result<void> validate_mirrors(const Mirrors& mirrors) {
  COVE_TRY_VOID(check_url("npm", mirrors.npm));
  COVE_TRY_VOID(check_url("pypi", mirrors.pypi));
  COVE_TRY_VOID(check_url("apt", mirrors.apt));
  COVE_TRY_VOID(check_url("go", mirrors.go));
  COVE_TRY_VOID(check_url("cargo", mirrors.cargo));
  COVE_TRY_VOID(check_url("maven", mirrors.maven));
  return check_url("rubygems", mirrors.rubygems);
}

}  // namespace cove::prepare

// The user's files with mirrors in them, and what is there when the mirrors go.
#include "prepare/mirrors/managed_file.hpp"

#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::prepare;
using Text = std::optional<std::string>;

namespace {

const Mirrors kAll{.npm = "http://mirror.test:8081/npm/",
                   .pypi = "http://mirror.test:8081/simple",
                   .apt = {},
                   .go = "http://mirror.test/go",
                   .cargo = "https://mirror.test/crates",
                   .maven = "http://mirror.test/maven2",
                   .rubygems = "https://mirror.test/gems"};

ManagedFile file(const std::string& id, const Mirrors& mirrors = kAll) {
  const auto files = home_files(mirrors);
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const ManagedFile& one) { return one.id == id; });
  REQUIRE(found != files.end());
  return *found;
}

FilePlan plan(const std::string& id, const Text& present,
              const std::optional<FileMemory>& memory = std::nullopt,
              const Mirrors& mirrors = kAll) {
  const auto planned = plan_file(file(id, mirrors), present, memory);
  if (!planned) FAIL(planned.error().describe());
  return *planned;
}

/// What is there after the mirrors went.
Text after_removal(const std::string& id, const Text& present, const FilePlan& before) {
  const FilePlan gone = plan(id, present, before.memory, Mirrors());
  CHECK_FALSE(gone.memory);
  return gone.content;
}

std::vector<std::string> ids() {
  std::vector<std::string> all;
  for (const ManagedFile& one : home_files(kAll)) all.push_back(one.id);
  return all;
}

/// Files of users, of every language.
const std::map<std::string, std::vector<std::string>>& user_files() {
  static const std::map<std::string, std::vector<std::string>> all{
      {"npmrc",
       {"", "\n", "a=1", "registry=https://mine/\n//mine/:_authToken=t\n",
        "\xEF\xBB\xBF; c\r\nregistry=1\r\nregistry=2"}},
      {"yarnrc", {"registry \"https://mine/\"\n", "# c\n\"--install.x\" true"}},
      {"yarnrc.yml",
       {"nodeLinker: pnp\n", "unsafeHttpWhitelist:\n    - \"*.intern\"\nx: 1\n",
        "unsafeHttpWhitelist: [a, \"b\"]\nnpmRegistryServer: https://mine/", "# only\n"}},
      {"bunfig.toml",
       {"[install]\nregistry = \"https://mine/\"\n", "telemetry = false\r\n",
        "[install.scopes]\na = 'b'\n"}},
      {"pip.conf",
       {"[global]\nindex-url = https://mine/\ntrusted-host = a\n    b\n",
        "[install]\nno-index = true", "[global]\nTrusted_Host: a\n"}},
      {"uv.toml", {"index-url = 'https://mine'\n", "[[index]]\nname = 'x'\nurl = 'y'\n"}},
      {"go-env", {"GOPROXY=https://mine\n", "GOFLAGS=-v"}},
      {"cargo-config.toml",
       {"[build]\njobs = 2\n",
        "[source.crates-io]\nreplace-with = 'mine'\n\n[source.mine]\n"
        "registry = 'https://mine'\n"}},
      {"maven-settings.xml",
       {"<settings/>x", "<settings>\n</settings>\n",
        "<?xml version=\"1.0\"?>\n<!-- <mirrors> -->\n<settings xmlns=\"x\">\r\n  <mirrors>\r\n    "
        "<mirror><id>mine</id><url>u</url></mirror>\r\n  </mirrors>\r\n</settings>",
        "<settings><mirrors/></settings>"}},
      {"gemrc", {"---\n:sources:\n- https://mine/\n", ":backtrace: true\n"}},
      {"bundle-config", {"---\nBUNDLE_PATH: \"v\"\n"}},
  };
  return all;
}

}  // namespace

TEST_CASE("ManagedFile: every file is made where there is none, and goes with the mirrors",
          "[unit][prepare][mirrors]") {
  for (const std::string& id : ids()) {
    CAPTURE(id);
    const FilePlan made = plan(id, std::nullopt);
    REQUIRE(made.content);
    REQUIRE(made.memory);
    CHECK_FALSE(made.memory->before);
    CHECK_THAT(*made.content, Catch::Contains("mirror.test"));
    CHECK(after_removal(id, made.content, made) == std::nullopt);
  }
}

TEST_CASE("ManagedFile: applied twice is applied once", "[unit][prepare][mirrors]") {
  for (const auto& [id, texts] : user_files()) {
    for (const std::string& text : texts) {
      CAPTURE(id, text);
      const auto once = plan_file(file(id), text, std::nullopt);
      if (!once) continue;  // left as it is
      const FilePlan twice = plan(id, once->content, once->memory);
      CHECK(twice.content == once->content);
      CHECK(twice.memory == once->memory);
    }
  }
}

TEST_CASE("ManagedFile: without mirrors the file is byte for byte what it was",
          "[unit][prepare][mirrors]") {
  for (const auto& [id, texts] : user_files()) {
    for (const std::string& text : texts) {
      CAPTURE(id, text);
      const auto once = plan_file(file(id), text, std::nullopt);
      if (!once) continue;
      CHECK_THAT(once->content.value(), Catch::Contains("mirror.test"));
      CHECK(after_removal(id, once->content, *once) == Text(text));
    }
  }
}

TEST_CASE("ManagedFile: what the user changed since stays, and the user's own comes back",
          "[unit][prepare][mirrors]") {
  const FilePlan npm = plan("npmrc", "registry=https://mine/\nfund=false\n");
  // `npm config set` writes the file anew, without comments.
  const std::string rewritten = "fund=false\nregistry=" + kAll.npm + "\naudit=false\n";
  CHECK(after_removal("npmrc", rewritten, npm) ==
        Text("fund=false\nregistry=https://mine/\naudit=false\n"));
  CHECK(after_removal("npmrc", "registry=https://newer/\n", npm) ==
        Text("registry=https://newer/\n"));
  CHECK(after_removal("npmrc", std::nullopt, npm) == std::nullopt);

  const FilePlan pip = plan("pip.conf", std::nullopt);
  CHECK(after_removal("pip.conf", *pip.content + "timeout = 3\n", pip) ==
        Text("[global]\ntimeout = 3\n"));
  CHECK(after_removal("pip.conf", *pip.content + "\n[list]\nformat = json\n", pip) ==
        Text("\n[list]\nformat = json\n"));
  const FilePlan cargo = plan("cargo-config.toml", "[build]\njobs = 2\n");
  CHECK(after_removal("cargo-config.toml", *cargo.content + "\n[net]\noffline = true\n", cargo) ==
        Text("[build]\njobs = 2\n\n[net]\noffline = true\n"));
  const FilePlan maven = plan("maven-settings.xml", "<settings>\n</settings>\n");
  const std::string more =
      std::string(*maven.content).insert(maven.content->find("</settings>"), "  <offline/>\n");
  const Text without = after_removal("maven-settings.xml", more, maven);
  REQUIRE(without);
  CHECK_THAT(*without, Catch::Contains("<offline/>") && !Catch::Contains("mirror.test"));
}

TEST_CASE("ManagedFile: another mirror takes the place of the first, the user's own is remembered",
          "[unit][prepare][mirrors]") {
  Mirrors other = kAll;
  other.npm = "https://other.test/";
  const FilePlan first = plan("npmrc", "registry=https://mine/\n");
  const FilePlan second = plan("npmrc", first.content, first.memory, other);
  CHECK(second.content == Text("registry=https://other.test/\n"));
  CHECK(second.memory->before == Text("registry=https://mine/\n"));
  CHECK(after_removal("npmrc", second.content, second) == Text("registry=https://mine/\n"));
}

TEST_CASE("ManagedFile: a mirror that the user has already is nothing of Cove's",
          "[unit][prepare][mirrors]") {
  const std::string text = "registry=" + kAll.npm + "\n";
  const FilePlan same = plan("npmrc", text);
  CHECK(same.content == Text(text));
  CHECK_FALSE(same.memory);
}

TEST_CASE("ManagedFile: http hosts are added to the user's lists", "[unit][prepare][mirrors]") {
  CHECK_THAT(plan("yarnrc.yml", "unsafeHttpWhitelist:\n    - a\n").content.value(),
             Catch::Contains("    - a\n    - \"mirror.test\"\n"));
  CHECK_THAT(plan("yarnrc.yml", "unsafeHttpWhitelist: [a]\n").content.value(),
             Catch::Contains("unsafeHttpWhitelist: [a, \"mirror.test\"]\n"));
  CHECK_THAT(plan("pip.conf", "[global]\ntrusted-host = a\n").content.value(),
             Catch::Contains("trusted-host = a\n    mirror.test:8081\n"));
  Mirrors https = kAll;
  https.pypi = "https://mirror.test/simple";
  CHECK_THAT(plan("pip.conf", std::nullopt, std::nullopt, https).content.value(),
             !Catch::Contains("trusted-host"));
}

TEST_CASE("ManagedFile: a file that is not edited is left alone, with the reason",
          "[unit][prepare][mirrors]") {
  const auto refused = [](const std::string& id, const std::string& text) {
    CAPTURE(id, text.substr(0, 60));
    const auto planned = plan_file(file(id), text, std::nullopt);
    REQUIRE_FALSE(planned);
    CHECK(planned.error().code() == ErrorCode::kUnsupported);
  };
  refused("npmrc", std::string("a\0b", 3));
  refused("npmrc", std::string(300 * 1024, '#'));
  refused("yarnrc.yml", "unsafeHttpWhitelist:\n  *alias\n");
  refused("maven-settings.xml", "<project></project>");
  refused("maven-settings.xml", "<settings><mirrors></settings>");
  refused("maven-settings.xml", "<!DOCTYPE x [<!ENTITY a \"b\">]><settings></settings>");
  refused("maven-settings.xml", "<settings><!-- no end");
}

TEST_CASE("Mirrors: only plain http and https URLs are taken", "[unit][prepare][mirrors]") {
  CHECK(validate_mirrors(kAll));
  CHECK(validate_mirrors(Mirrors{}));
  for (const char* url :
       {"ftp://x/", "http://", "http:///x", "http://x/\nregistry=y", "http://x/\"", "http://x/ y",
        "http://x/${HOME}", "http://x/#y", "http://x/,direct", "registry", "http://x/\\"}) {
    CAPTURE(url);
    const auto checked = validate_mirrors({.npm = url});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == ErrorCode::kInvalidArgument);
    CHECK_THAT(checked.error().message(), Catch::Contains("npm"));
  }
}

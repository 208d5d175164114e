// Settings in the languages of package managers: found, set, taken out; all else stays.
#include "prepare/mirrors/formats/settings.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::prepare;

namespace {

struct Case {
  const char* what;
  Language language;
  SettingKey key;
  std::string before;
  std::string lines;
  std::string after;
};

const SettingKey kRegistry{"", "registry"};
const SettingKey kIndex{"global", "index-url"};
const SettingKey kInstall{"install", "registry"};
const SettingKey kTop{"", "index-url"};
const SettingKey kServer{"", "npmRegistryServer"};
const SettingKey kSources{"", ":sources"};
const SettingKey kProxy{"", "GOPROXY"};

const std::string kNpm = "registry=http://m/";
const std::string kYarn = "registry \"http://m/\"";
const std::string kPip = "index-url = http://m/";
const std::string kToml = "registry = \"http://m/\"";
const std::string kUv = "index-url = \"http://m/\"";
const std::string kYaml = "npmRegistryServer: \"http://m/\"";

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      // .npmrc
      {"empty", Language::kNpmrc, kRegistry, "", kNpm, kNpm + "\n"},
      {"other settings", Language::kNpmrc, kRegistry, "a=1\n//h/:_authToken=x\n", kNpm,
       "a=1\n//h/:_authToken=x\n" + kNpm + "\n"},
      {"the same key", Language::kNpmrc, kRegistry, "registry = https://u/\na=1\n", kNpm,
       kNpm + "\na=1\n"},
      {"twice: the last counts", Language::kNpmrc, kRegistry, "registry=1\nregistry=2\n", kNpm,
       "registry=1\n" + kNpm + "\n"},
      {"no last line end", Language::kNpmrc, kRegistry, "a=1", kNpm, "a=1\n" + kNpm + "\n"},
      {"CRLF", Language::kNpmrc, kRegistry, "a=1\r\nb=2\r\n", kNpm,
       "a=1\r\nb=2\r\n" + kNpm + "\r\n"},
      {"BOM", Language::kNpmrc, kRegistry, "\xEF\xBB\xBFregistry=u\n", kNpm,
       "\xEF\xBB\xBF" + kNpm + "\n"},
      {"a comment", Language::kNpmrc, kRegistry, ";registry=u\n#registry=u\n", kNpm,
       ";registry=u\n#registry=u\n" + kNpm + "\n"},
      {"a scope's registry is another", Language::kNpmrc, kRegistry, "@s:registry=u\n", kNpm,
       "@s:registry=u\n" + kNpm + "\n"},
      {"before a section", Language::kNpmrc, kRegistry, "a=1\n[s]\nregistry=u\n", kNpm,
       "a=1\n" + kNpm + "\n[s]\nregistry=u\n"},
      {"quotes", Language::kNpmrc, kRegistry, "\"registry\" = \"u\"\n", kNpm, kNpm + "\n"},
      // .yarnrc
      {"yarn: other settings", Language::kYarnrc, kRegistry, "# c\nlastUpdateCheck 1\n", kYarn,
       "# c\nlastUpdateCheck 1\n" + kYarn + "\n"},
      {"yarn: the same key", Language::kYarnrc, kRegistry,
       "registry \"u\"\n\"@s:registry\" \"v\"\n", kYarn, kYarn + "\n\"@s:registry\" \"v\"\n"},
      {"yarn: nested lines belong to a key", Language::kYarnrc, kRegistry,
       "registry:\n  \"x\" \"y\"\nb 1\n", kYarn, kYarn + "\nb 1\n"},
      // pip.conf
      {"pip: empty", Language::kPipConf, kIndex, "", kPip, "[global]\n" + kPip + "\n"},
      {"pip: the section is there", Language::kPipConf, kIndex, "[global]\ntimeout = 5\n", kPip,
       "[global]\ntimeout = 5\n" + kPip + "\n"},
      {"pip: another section", Language::kPipConf, kIndex, "[install]\nuser = no\n", kPip,
       "[install]\nuser = no\n\n[global]\n" + kPip + "\n"},
      {"pip: another spelling", Language::kPipConf, kIndex, "[global]\nIndex_URL: u\n", kPip,
       "[global]\n" + kPip + "\n"},
      {"pip: values over lines", Language::kPipConf, kIndex,
       "[global]\nindex-url =\n    u\nextra = a\n    b\n[x]\ny=1\n", kPip,
       "[global]\n" + kPip + "\nextra = a\n    b\n[x]\ny=1\n"},
      {"pip: the same key of another section", Language::kPipConf, kIndex,
       "[install]\nindex-url = u\n[global]\n", kPip,
       "[install]\nindex-url = u\n[global]\n" + kPip + "\n"},
      // TOML
      {"toml: empty", Language::kToml, kInstall, "", kToml, "[install]\n" + kToml + "\n"},
      {"toml: the table is there", Language::kToml, kInstall,
       "a = 1\n[install]\noptional = true\n[test]\nb = 2\n", kToml,
       "a = 1\n[install]\noptional = true\n" + kToml + "\n[test]\nb = 2\n"},
      {"toml: the same key", Language::kToml, kInstall, "[install]\nregistry = 'u' # mine\n", kToml,
       "[install]\n" + kToml + "\n"},
      {"toml: at the top before a table", Language::kToml, kTop,
       "native-tls = true\n[pip]\nx = 1\n", kUv, "native-tls = true\n" + kUv + "\n[pip]\nx = 1\n"},
      {"toml: at the top where only tables are", Language::kToml, kTop, "[pip]\nx = 1\n", kUv,
       kUv + "\n[pip]\nx = 1\n"},
      {"toml: lists and texts over lines", Language::kToml, kTop,
       "a = [\n  \"x]\", # ]\n  'y',\n]\nb = \"\"\"\nindex-url = 'no'\n\"\"\"\nindex-url = 'u'\n",
       kUv, "a = [\n  \"x]\", # ]\n  'y',\n]\nb = \"\"\"\nindex-url = 'no'\n\"\"\"\n" + kUv + "\n"},
      {"toml: a list of tables is not the table", Language::kToml, kTop, "[[index]]\nurl = 'u'\n",
       kUv, kUv + "\n[[index]]\nurl = 'u'\n"},
      {"toml: quoted table",
       Language::kToml,
       {"source.crates-io", "replace-with"},
       "[source.\"crates-io\"]\nreplace-with = 'u'\n",
       "replace-with = \"m\"",
       "[source.\"crates-io\"]\nreplace-with = \"m\"\n"},
      // YAML
      {"yaml: empty", Language::kYaml, kServer, "", kYaml, kYaml + "\n"},
      {"yaml: other settings", Language::kYaml, kServer,
       "nodeLinker: node-modules\nplugins:\n  - path: p\n    spec: s\n", kYaml,
       "nodeLinker: node-modules\nplugins:\n  - path: p\n    spec: s\n" + kYaml + "\n"},
      {"yaml: the same key", Language::kYaml, kServer, "npmRegistryServer: 'u'\nx: 1\n", kYaml,
       kYaml + "\nx: 1\n"},
      {"yaml: a nested key is another", Language::kYaml, kServer,
       "npmScopes:\n  s:\n    npmRegistryServer: u\n", kYaml,
       "npmScopes:\n  s:\n    npmRegistryServer: u\n" + kYaml + "\n"},
      {"yaml: Ruby's symbols and a list at the left edge", Language::kYaml, kSources,
       "---\n:backtrace: false\n:sources:\n- https://u/\n- https://v/\n:verbose: true\n",
       ":sources:\n- http://m/",
       "---\n:backtrace: false\n:sources:\n- http://m/\n:verbose: true\n"},
      {"yaml: a key with colons",
       Language::kYaml,
       {"", "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/"},
       "---\nBUNDLE_PATH: \"v\"\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"u\"\n",
       "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"m\"",
       "---\nBUNDLE_PATH: \"v\"\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"m\"\n"},
      // Go
      {"go: other settings", Language::kEnv, kProxy, "GOFLAGS=-mod=mod\nGOPROXY=u\n",
       "GOPROXY=http://m,direct", "GOFLAGS=-mod=mod\nGOPROXY=http://m,direct\n"},
      {"odd lines stay", Language::kNpmrc, kRegistry, "=\n = x\n\n\xff\xfe\nkey\n", kNpm,
       "=\n = x\n\n\xff\xfe\nkey\n" + kNpm + "\n"},
  };
  return all;
}

}  // namespace

TEST_CASE("Settings: one is set, and everything else stays", "[unit][prepare][mirrors]") {
  for (const Case& c : cases()) {
    CAPTURE(c.what, c.before);
    const auto once = put_setting(c.language, c.before, c.key, c.lines);
    REQUIRE(once);
    CHECK(*once == c.after);
    CHECK(put_setting(c.language, *once, c.key, c.lines).value() == *once);
    const auto found = find_setting(c.language, *once, c.key).value();
    REQUIRE(found);
    CHECK(found->lines == c.lines);
  }
}

TEST_CASE("Settings: what was put in can be taken out again", "[unit][prepare][mirrors]") {
  for (const Case& c : cases()) {
    CAPTURE(c.what, c.before);
    const auto old = find_setting(c.language, c.before, c.key).value();
    const auto set = put_setting(c.language, c.before, c.key, c.lines).value();
    const auto lines = old ? std::optional(old->lines) : std::nullopt;
    const auto back = put_setting(c.language, set, c.key, lines).value();
    const auto clean = drop_new_section(c.language, back, c.before, c.key.section).value();
    // But for the line end that the last line may not have had.
    const bool ended = c.before.empty() || c.before.ends_with('\n');
    CHECK(clean == (ended ? c.before : c.before + "\n"));
  }
}

TEST_CASE("Settings: a form that is not edited is refused, and the line named",
          "[unit][prepare][mirrors]") {
  const SettingKey source{"source.crates-io", "replace-with"};
  const auto refused = [](Language language, const SettingKey& key, const std::string& text,
                          const std::string& words) {
    CAPTURE(text);
    const auto put = put_setting(language, text, key, "x");
    REQUIRE_FALSE(put);
    CHECK(put.error().code() == ErrorCode::kUnsupported);
    CHECK_THAT(put.error().message(), Catch::Contains(words));
  };
  refused(Language::kToml, source, "a = 1\nsource.crates-io.replace-with = 'x'\n", "line 2");
  refused(Language::kToml, source, "[source]\ncrates-io = { replace-with = 'x' }\n", "line 2");
  refused(Language::kToml, source, "[[source]]\nx = 1\n", "line 1");
  refused(Language::kToml, kInstall, "[install.registry]\nurl = 'x'\n", "line 2");
  refused(Language::kToml, kTop, "what is this\n", "line 1");
  refused(Language::kToml, kTop, "a = [1,\n2\n", "line 1");
  refused(Language::kToml, kTop, "[open\n", "line 1");
  refused(Language::kYaml, kServer, "{npmRegistryServer: u}\n", "line 1");
  refused(Language::kYaml, kServer, "a: 1\n--- \nb: 2\n", "line 2");
  refused(Language::kYaml, kServer, "just words\n", "line 1");
  refused(Language::kYaml, kServer, "- a\n", "line 1");
  refused(Language::kPipConf, kIndex, "index-url = u\n", "line 1");
  refused(Language::kPipConf, kIndex, "[global]\nwords\n", "line 2");
}

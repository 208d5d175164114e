#include "cli/program.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cove/cove.hpp>

#include "unit/cli/captured_output.hpp"

using cove::cli::Program;
using cove::cli::testing::CapturedOutput;
using nlohmann::json;

namespace {

int run(const CapturedOutput& captured, const std::vector<std::string>& arguments, int signal = 0) {
  const Program program{
      .arguments = arguments,
      .surroundings = {[](const char*) { return std::optional<std::string>(); }, false, "/"},
      .output = captured.output(),
      .stop = {},
      .signal = [signal] { return signal; }};
  return cove::cli::run_program(program);
}

/// A configuration that keeps nothing and starts nothing until a sandbox is asked for.
class Home {
 public:
  Home() {
    std::string name = (std::filesystem::temp_directory_path() / "cove-home-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  ~Home() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

  /// Makes a Cove there.
  void begin() const {
    cove::Config config;
    config.state_dir = path_;
    REQUIRE(cove::Cove::open(config).value().close());
  }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("Program: a wrong argument is Cove's own error, on one line", "[unit][cli]") {
  const CapturedOutput captured;
  CHECK(run(captured, {"exec", "--no-such-option"}) == 125);
  CHECK(captured.out().empty());
  CHECK(captured.err() == "cove: unknown option '--no-such-option'; see: cove exec --help\n");
}

TEST_CASE("Program: with --json its errors are objects, also of the arguments", "[unit][cli]") {
  const CapturedOutput captured;
  CHECK(run(captured, {"exec", "--json", "--no-such-option"}) == 125);
  const json object = json::parse(captured.err());
  CHECK(object["code"] == "invalid_argument");
  CHECK(object["message"] == "unknown option '--no-such-option'; see: cove exec --help");
  const CapturedOutput plain;
  CHECK(run(plain, {"exec", "--no-such-option", "--", "tool", "--json"}) == 125);
  CHECK(plain.err().starts_with("cove: "));
}

TEST_CASE("Program: without a state directory it says how to name one", "[unit][cli]") {
  const CapturedOutput captured;
  CHECK(run(captured, {"list"}) == 125);
  CHECK(captured.err() ==
        "cove: nothing says where to keep the state: set COVE_HOME, or give --home DIR\n");
}

TEST_CASE("Program: help and version go to stdout, a missing command to stderr", "[unit][cli]") {
  const CapturedOutput help;
  CHECK(run(help, {"exec", "--help"}) == 0);
  CHECK(help.out() == cove::cli::help_of("exec").value());
  const CapturedOutput version;
  CHECK(run(version, {"--version"}) == 0);
  CHECK(version.out() == "cove " + std::string(cove::version()) + "\n");
  const CapturedOutput nothing;
  CHECK(run(nothing, {}) == 125);
  CHECK(nothing.out().empty());
  CHECK(nothing.err() == cove::cli::help_of("").value());
}

TEST_CASE("Program: the signal that stopped it is its exit code", "[unit][cli]") {
  const CapturedOutput captured;
  CHECK(run(captured, {"list"}, 2) == 130);
  CHECK(captured.err().empty());
}

TEST_CASE("Program: an empty deployment has an empty list and no such sandbox", "[unit][cli]") {
  const Home home;
  home.begin();
  const CapturedOutput list;
  CHECK(run(list, {"list", "--json", "--home", home.path()}) == 0);
  CHECK(json::parse(list.out()) == json{{"sandboxes", json::array()}});
  const CapturedOutput status;
  CHECK(run(status, {"status", "--app", "a", "--user", "u", "--json", "--home", home.path()}) ==
        125);
  CHECK(json::parse(status.err())["code"] == "not_found");
  const CapturedOutput kept;
  CHECK(run(kept, {"destroy", "--app", "a", "--user", "u", "--home", home.path()}) == 125);
  CHECK(kept.err().ends_with("and its archive for ever; say so with --yes\n"));
}

TEST_CASE("Program: a sandbox id that names nothing begins no workspace", "[unit][cli]") {
  const Home home;
  home.begin();
  const CapturedOutput captured;
  CHECK(run(captured, {"exec", "--home", home.path(), "--app", "demo", "--user", "ana", "--sandbox",
                       "mistyped", "--", "true"}) == 125);
  CHECK(captured.err().find("mistyped") != std::string::npos);
  const CapturedOutput listed;
  CHECK(run(listed, {"list", "--home", home.path(), "--json"}) == 0);
  CHECK(listed.out().find("mistyped") == std::string::npos);
}

TEST_CASE("Program: what only looks at a Cove makes none where there is none", "[unit][cli]") {
  const Home home;
  const std::vector<std::vector<std::string>> commands{
      {"list"},
      {"status", "--app", "a", "--user", "u"},
      {"stop", "--app", "a", "--user", "u"},
      {"archive", "--app", "a", "--user", "u"},
      {"destroy", "--app", "a", "--user", "u", "--yes"},
      {"sweep"},
      {"get", "--app", "a", "--user", "u", "x"},
      {"ls", "--app", "a", "--user", "u"},
      {"doctor", "--orphans"},
      {"exec", "--sandbox", "app-0", "--", "true"}};
  for (const std::string& directory : {home.path(), home.path() + "/mistyped/too"}) {
    for (std::vector<std::string> arguments : commands) {
      INFO(arguments.front() << " " << directory);
      arguments.insert(arguments.begin(), {"--json", "--home", directory});
      const CapturedOutput captured;
      CHECK(run(captured, arguments) == 125);
      CHECK(captured.out().empty());
      const json error = json::parse(captured.err());
      CHECK(error["code"] == "not_found");
      CHECK(error["message"] == "there is no Cove in '" + directory + "'");
      CHECK(error["context"]["hint"].get<std::string>().starts_with("correct --home"));
    }
  }
  CHECK(std::filesystem::is_empty(home.path()));
}

TEST_CASE("Program: doctor examines a machine without making a Cove, and says there is none",
          "[unit][cli]") {
  const Home home;
  for (const std::string& directory : {home.path(), home.path() + "/new/one"}) {
    const CapturedOutput captured;
    const int code = run(captured, {"doctor", "--json", "--home", directory});
    const json findings = json::parse(captured.out())["findings"];
    CHECK(findings[0]["subject"] == "state directory");
    CHECK(findings[0]["level"] == "limited");
    CHECK(findings[0]["detail"] == "there is no Cove in '" + directory + "' yet");
    bool broken = false;
    bool disk = false;
    for (const json& finding : findings) {
      broken = broken || finding["level"] == "broken";
      disk = disk || finding["subject"] == "disk space";
    }
    CHECK(code == (broken ? 1 : 0));
    CHECK(disk);
    CHECK(std::filesystem::is_empty(home.path()));
  }
  std::filesystem::permissions(home.path(), std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  const CapturedOutput open;
  CHECK(run(open, {"doctor", "--json", "--home", home.path()}) == 1);
  CHECK(json::parse(open.out())["findings"][0]["level"] == "broken");
}

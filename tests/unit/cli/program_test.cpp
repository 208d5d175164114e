#include "cli/program.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cove/version.hpp>

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
  const CapturedOutput captured;
  CHECK(run(captured, {"exec", "--home", home.path(), "--app", "demo", "--user", "ana", "--sandbox",
                       "mistyped", "--", "true"}) == 125);
  CHECK(captured.err().find("mistyped") != std::string::npos);
  const CapturedOutput listed;
  CHECK(run(listed, {"list", "--home", home.path(), "--json"}) == 0);
  CHECK(listed.out().find("mistyped") == std::string::npos);
}

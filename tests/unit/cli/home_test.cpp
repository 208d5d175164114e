#include "cli/machine/home.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include <catch2/catch.hpp>
#include <unistd.h>

using cove::ErrorCode;
using namespace cove::cli;

namespace {

Surroundings surroundings(const std::map<std::string, std::string>& variables, bool root = false) {
  return {[variables](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
          },
          root, "/here"};
}

std::string home_of(const Surroundings& around, const std::optional<std::string>& option = {}) {
  Request request;
  request.home = option;
  return state_directory(request, around).value();
}

}  // namespace

TEST_CASE("State directory: the first that says where wins", "[unit][cli]") {
  const std::map<std::string, std::string> all{
      {"COVE_HOME", "/cove"}, {"XDG_STATE_HOME", "/xdg"}, {"HOME", "/home/ana"}};
  CHECK(home_of(surroundings(all), "/option") == "/option");
  CHECK(home_of(surroundings(all)) == "/cove");
  CHECK(home_of(surroundings(all, true)) == "/cove");
  CHECK(home_of(surroundings({{"XDG_STATE_HOME", "/xdg"}}, true)) == "/var/lib/cove");
  CHECK(home_of(surroundings({{"XDG_STATE_HOME", "/xdg"}, {"HOME", "/h"}})) == "/xdg/cove");
  CHECK(home_of(surroundings({{"HOME", "/h"}})) == "/h/.local/state/cove");
}

TEST_CASE("State directory: empty variables count as none, relative paths become absolute",
          "[unit][cli]") {
  CHECK(home_of(surroundings({{"COVE_HOME", ""}, {"XDG_STATE_HOME", ""}, {"HOME", "/h"}})) ==
        "/h/.local/state/cove");
  CHECK(home_of(surroundings({{"XDG_STATE_HOME", "relative"}, {"HOME", "/h"}})) ==
        "/h/.local/state/cove");
  CHECK(home_of(surroundings({{"COVE_HOME", "state"}})) == "/here/state");
  CHECK(home_of(surroundings({}), "state") == "/here/state");
  CHECK(state_directory({}, surroundings({})).error().code() == ErrorCode::kFailedPrecondition);
  Request empty;
  empty.home = "";
  CHECK(state_directory(empty, surroundings({})).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Configuration: the file's own state directory counts, unless --home is given",
          "[unit][cli]") {
  std::string name = (std::filesystem::temp_directory_path() / "cove-config-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  REQUIRE(fd >= 0);
  ::close(fd);
  const auto config_with = [&](const std::string& text, const std::optional<std::string>& home) {
    std::ofstream(name) << text;
    Request request;
    request.config = name;
    request.home = home;
    return load_config(request, surroundings({{"COVE_HOME", "/cove"}}));
  };
  CHECK(config_with("{}", {}).value().state_dir == "/cove");
  CHECK(config_with(R"({"state_dir": "/own"})", {}).value().state_dir == "/own");
  CHECK(config_with(R"({"state_dir": "/own"})", "/option").value().state_dir == "/option");
  CHECK(config_with("{}", "/option\xFF").value().state_dir == "/option\xFF");
  CHECK(config_with("{", {}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(config_with(std::string(100, '['), {}).error().message() ==
        "'" + name + "' is nested deeper than 64 levels, more than any document of Cove's");
  // A wrong one in the file is no less wrong because another is used.
  for (const std::optional<std::string>& home :
       {std::optional<std::string>(), std::optional<std::string>("/option")}) {
    for (const auto& [text, message] : std::map<std::string, std::string>{
             {R"({"state_dir": 5})", "state_dir must be a text of at least one character, not 5"},
             {R"({"state_dir": ""})", "state_dir must be a text"},
             {R"({"state_dir": null})", "state_dir must be a text"},
             {R"({"state_dir": "state"})", "state_dir must be an absolute path"},
             {R"({"state_dir": "/a\u0000b"})", "state_dir must be a path without NUL bytes"}}) {
      INFO(text);
      const auto refused = config_with(text, home);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
      CHECK(refused.error().message().find(message) == 0);
    }
  }
  const auto wrong = config_with(R"({"no_such_key": 1})", {});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code() == ErrorCode::kInvalidArgument);
  CHECK(wrong.error().describe().find("no_such_key") != std::string::npos);
  CHECK(wrong.error().describe().find(name) != std::string::npos);
  std::filesystem::remove(name);
  Request missing;
  missing.config = name;
  CHECK(load_config(missing, surroundings({})).error().code() == ErrorCode::kNotFound);
  CHECK(load_config({}, surroundings({{"COVE_HOME", "/c"}})).value().state_dir == "/c");
}

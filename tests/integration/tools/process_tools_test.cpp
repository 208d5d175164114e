// The tools for background processes, from the start of one to its stop.
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

#include "support/fixtures/live_cove.hpp"

using namespace cove;
using namespace cove::testing;
using nlohmann::json;

namespace {

const WorkspaceKey kAna{"app", "tools", "ana"};

struct Called {
  std::string text;
  json data;
  bool is_error = false;
};

Called called(const SandboxClient& client, std::string_view tool, const json& arguments) {
  const ToolResult result = tools_call(client, tool, arguments.dump()).value();
  return {result.text, json::parse(result.data), result.is_error};
}

/// The output from `offset` on, once it holds `what`.
Called output_with(const SandboxClient& client, const std::string& id, std::uint64_t offset,
                   const std::string& what) {
  for (int tries = 0;; ++tries) {
    Called got =
        called(client, "sandbox_process_output", {{"id", id}, {"offset", offset}, {"wait", 10}});
    INFO(got.text);
    REQUIRE_FALSE(got.is_error);
    REQUIRE(tries < 100);
    if (got.data.at("output").get<std::string>().find(what) != std::string::npos) return got;
  }
}

}  // namespace

TEST_CASE("Tools: a process is started, listed, read, written to and stopped",
          "[integration][tools]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna, {.chat_id = "c1"}).value().client();
  CHECK(called(client, "sandbox_process_list", json::object()).text == "No processes");
  const Called started = called(
      client, "sandbox_process_start",
      {{"command", "echo up; while read x; do echo got $x; done; echo end >&2"}, {"name", "echo"}});
  INFO(started.text);
  REQUIRE_FALSE(started.is_error);
  const auto id = started.data.at("process").at("id").get<std::string>();
  CHECK(started.text.starts_with("Process started: " + id));
  CHECK(started.data["process"]["running"] == true);

  const Called listed = called(client, "sandbox_process_list", json::object());
  CHECK(listed.text.starts_with(id + "  running  echo  echo up; while"));
  CHECK(listed.data.at("processes").size() == 1);

  const Called first = output_with(client, id, 0, "up\n");
  CHECK(first.data["next_offset"] == 3);
  CHECK(first.data["at_end"] == false);
  CHECK(first.text.starts_with("up\n"));
  CHECK(first.text.find("Use offset=3 to continue") != std::string::npos);

  const Called written = called(client, "sandbox_process_write", {{"id", id}, {"input", "word\n"}});
  CHECK_FALSE(written.is_error);
  CHECK(written.data["written"] == 5);
  CHECK(output_with(client, id, 3, "got word\n").data["offset"] == 3);

  SECTION("the end of its stdin is its own end, and stderr is in the output too") {
    CHECK(called(client, "sandbox_process_write", {{"id", id}, {"close", true}}).data["closed"] ==
          true);
    CHECK(output_with(client, id, 12, "end\n").data["output"] == "end\n");
    const Called stopped = called(client, "sandbox_process_stop", {{"id", id}});
    CHECK_FALSE(stopped.is_error);
    CHECK(stopped.data["process"]["running"] == false);
    CHECK(stopped.data["process"]["outcome"] == "exited");
    const Called late = called(client, "sandbox_process_write", {{"id", id}, {"input", "x"}});
    CHECK(late.is_error);
    CHECK(late.data["error"]["code"] == "failed_precondition");
    const Called whole = called(client, "sandbox_process_output", {{"id", id}});
    CHECK(whole.text.starts_with("up\ngot word\nend\n"));
    CHECK(whole.data["at_end"] == true);
  }
  SECTION("stop ends one that runs") {
    const Called stopped = called(client, "sandbox_process_stop", {{"id", id}});
    CHECK_FALSE(stopped.is_error);
    CHECK(stopped.data["process"]["running"] == false);
    CHECK(stopped.data["process"]["outcome"] == "cancelled");
  }
}

TEST_CASE("Tools: a process that is not there is told, with what to do", "[integration][tools]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  const std::string id = "0123456789abcdef0123456789abcdef";
  for (const auto& [tool, arguments] :
       std::map<std::string, json>{{"sandbox_process_output", {{"id", id}}},
                                   {"sandbox_process_write", {{"id", id}, {"input", "x"}}},
                                   {"sandbox_process_stop", {{"id", id}}}}) {
    INFO(tool);
    const Called missing = called(client, tool, arguments);
    CHECK(missing.is_error);
    CHECK(missing.data["error"]["code"] == "not_found");
    INFO(missing.text);
    CHECK(missing.text.find("sandbox_process_list") != std::string::npos);
  }
  const Called nothing = called(client, "sandbox_process_write", {{"id", id}});
  CHECK(nothing.is_error);
  CHECK(nothing.data["error"]["code"] == "invalid_argument");
  CHECK(called(client, "sandbox_process_stop", {{"id", "no id"}}).is_error);
}

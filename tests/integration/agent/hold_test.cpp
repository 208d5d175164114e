// New commands while a stop lets what runs finish.
#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/guest_streams.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

const std::string kStop = "stop-1";

ExecSpec shell_line(const std::string& line) {
  ExecSpec spec;
  spec.argv = {"/bin/sh", "-c", line};
  spec.kill_grace = 200ms;
  return spec;
}

Result<void> hold(AgentFixture& f, const std::string& by, std::chrono::milliseconds length) {
  const CallContext call;
  return f.wait(f.guest->hold_commands(by, length, call));
}

}  // namespace

TEST_CASE("Hold: new commands are refused, what runs goes on, and files are served",
          "[integration][agent][drain]") {
  AgentFixture f;
  const CallContext call;
  REQUIRE(f.guest->capabilities().holds);
  const ExecSpec waiting = shell_line("read x; printf done");
  const auto process = f.wait(f.guest->start("", waiting, true, call)).value();
  REQUIRE(hold(f, kStop, 60s));
  const auto refused = f.shell("true");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
  CHECK_THAT(refused.error().message(), Catch::Contains("is being stopped"));
  const ExecSpec background = shell_line("sleep 1");
  const ProcessOptions options;
  CHECK(f.wait(f.guest->start_process("", background, options, call)).error().code() ==
        ErrorCode::kUnavailable);
  CHECK(f.wait(f.guest->status(call)).value().running_commands == 1);
  f.agent.put("a", "x");
  const GuestPath path{"", "a"};
  CHECK(f.wait(f.guest->stat(path, call)));
  test::type(f, process, "\n");
  CHECK(test::read_all(f, process) == "done");
}

TEST_CASE("Hold: it ends when it is taken back, for good, and by itself",
          "[integration][agent][drain]") {
  AgentFixture f;
  REQUIRE(hold(f, kStop, 60s));
  REQUIRE_FALSE(f.shell("true"));
  REQUIRE(hold(f, "another", 0s));
  REQUIRE_FALSE(f.shell("true"));
  REQUIRE(hold(f, kStop, 0s));
  REQUIRE(f.shell("true"));
  // What was on its way when the stop was called off.
  CHECK(hold(f, kStop, 60s).error().code() == ErrorCode::kConflict);
  REQUIRE(f.shell("true"));
  REQUIRE(hold(f, "stop-2", 1ms));
  CHECK(test::soon([&] { return f.shell("true").has_value(); }));
}

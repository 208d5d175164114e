#include <csignal>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fixtures/agent_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

template <class Kind>
Kind outcome_of(const Result<ExecResult>& result) {
  REQUIRE(result);
  REQUIRE(std::holds_alternative<Kind>(result->outcome));
  return std::get<Kind>(result->outcome);
}

bool is_alive(const std::string& pid) { return ::kill(std::stoi(pid), 0) == 0; }

/// Waits until the process is gone, for at most 10 s.
bool ends(const std::string& pid) {
  for (int i = 0; i < 1000 && is_alive(pid); ++i) ::usleep(10'000);
  return !is_alive(pid);
}

}  // namespace

TEST_CASE("Agent: a program that does nothing ends with 0", "[integration][agent]") {
  AgentFixture f;
  const auto result = f.run({.argv = {"true"}});
  CHECK(outcome_of<Exited>(result).code == 0);
  CHECK(result->out.total_bytes == 0);
  CHECK(result->duration > 0us);
}

TEST_CASE("Agent: the exit code comes back", "[integration][agent]") {
  AgentFixture f;
  CHECK(outcome_of<Exited>(f.shell("exit 7")).code == 7);
}

TEST_CASE("Agent: the signal that ended a program comes back", "[integration][agent]") {
  AgentFixture f;
  CHECK(outcome_of<Signaled>(f.shell("kill -TERM $$")).signal == SIGTERM);
  // A write to a closed pipe kills by SIGPIPE: the agent's own way with it is not handed on.
  CHECK(f.shell("yes | head -n 1").value().out.head == "y\n");
  CHECK(f.shell("(yes; echo $? >&2) | head -n 1").value().err.head == "141\n");
}

TEST_CASE("Agent: both streams come back, apart and exact", "[integration][agent]") {
  AgentFixture f;
  const auto result = f.shell("printf 'a\\000\\377'; printf 'b\\200' >&2");
  REQUIRE(result);
  CHECK(result->out.head == std::string("a\0\xff", 3));
  CHECK(result->err.head == "b\x80");
}

TEST_CASE("Agent: empty and odd arguments arrive as given", "[integration][agent]") {
  AgentFixture f;
  const auto result = f.run({.argv = {"printf", "<%s>", "", "[a,b]", "--", "\xff%%"}});
  REQUIRE(result);
  CHECK(result->out.head == "<><[a,b]><--><\xff%%>");
}

TEST_CASE("Agent: arguments larger than a control payload arrive, too large ones are refused",
          "[integration][agent]") {
  AgentFixture f;
  const std::string large(100'000, 'x');
  ExecSpec spec{.argv = {"sh", "-c", "echo ${#1} ${#BIG}", "sh", large}, .env = {{"BIG", large}}};
  CHECK(f.run(spec).value().out.head == "100000 100000\n");
  spec.argv.back() = std::string(5'000'000, 'x');
  CHECK(f.run(spec).error().code() == ErrorCode::kTooLarge);
}

TEST_CASE("Agent: the environment is the boot's and the command's, nothing of the host's [pain-80]",
          "[integration][agent][pain-80]") {
  AgentFixture f;
  const auto result = f.run({.argv = {"env"}, .env = {{"LANG", "C"}, {"MINE", "a=b"}}});
  REQUIRE(result);
  CHECK(result->out.head ==
        "HOME=" + f.agent.workspace() + "\nLANG=C\nMINE=a=b\nPATH=/usr/local/bin:/usr/bin:/bin\n");
}

TEST_CASE("Agent: a command has three descriptors and no more [pain-80]",
          "[integration][agent][pain-80]") {
  AgentFixture f;
  CHECK(f.shell("ls /proc/self/fd | tr '\\n' ' '").value().out.head == "0 1 2 3 ");
}

TEST_CASE("Agent: a program that is missing, forbidden or no program is told apart",
          "[integration][agent]") {
  AgentFixture f;
  f.agent.put("data", "no program", 0644);
  f.agent.put("odd", "no program either", 0755);
  f.agent.put("script", "#!/no/such/interpreter\n", 0755);
  const auto code = [&](const std::string& program) {
    return f.run({.argv = {program}}).error().code();
  };
  CHECK(code("no-such-program") == ErrorCode::kNotFound);
  CHECK(code("./missing") == ErrorCode::kNotFound);
  CHECK(code("./script") == ErrorCode::kNotFound);
  CHECK(code("./data") == ErrorCode::kPermissionDenied);
  CHECK(code("./odd") == ErrorCode::kInvalidArgument);
  CHECK(f.run({.argv = {"no-such-program"}}).error().message().find("'no-such-program'") !=
        std::string::npos);
  CHECK(f.run({.argv = {"true"}})->succeeded());
}

TEST_CASE("Agent: the working directory is the session's, or below it", "[integration][agent]") {
  AgentFixture f;
  ::mkdir((f.agent.workspace() + "/sub").c_str(), 0755);
  const ExecSpec here{.argv = {"pwd"}};
  CHECK(f.wait(f.guest->run("sub", here, {})).value().out.head == f.agent.workspace() + "/sub\n");
  CHECK(f.run({.argv = {"pwd"}, .cwd = "sub"}).value().out.head == f.agent.workspace() + "/sub\n");
  CHECK(f.run({.argv = {"pwd"}, .cwd = "gone"}).error().code() == ErrorCode::kNotFound);
  CHECK(f.run({.argv = {"pwd"}, .cwd = "../.."}).error().code() == ErrorCode::kPathEscape);
}

TEST_CASE("Agent: a timeout ends the command and keeps what it wrote [pain-48]",
          "[integration][agent][pain-48]") {
  AgentFixture f;
  const ExecSpec spec{.argv = {"sh", "-c", "echo before; sleep 100; echo after"}, .timeout = 300ms};
  const auto result = f.run(spec);
  outcome_of<TimedOut>(result);
  CHECK(result->out.head == "before\n");
  CHECK(result->shell_code() == 124);
}

TEST_CASE("Agent: a timeout leaves nothing, not what left the session or ignores SIGTERM [pain-40]",
          "[integration][agent][pain-38][pain-39][pain-40][pain-42]") {
  AgentFixture f;
  const ExecSpec spec{
      .argv = {"sh", "-c",
               "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$; sleep 100' &) ;"
               "(setsid sh -c '(setsid sleep 101 & echo $!)'); sleep 102"},
      .timeout = 500ms,
      .kill_grace = 200ms};
  const auto result = f.run(spec);
  outcome_of<TimedOut>(result);
  const std::string out = result->out.head;
  const auto line = out.find('\n');
  REQUIRE(line != std::string::npos);
  REQUIRE(out.size() > line + 1);
  CHECK_FALSE(is_alive(out.substr(0, line)));
  CHECK_FALSE(is_alive(out.substr(line + 1)));
  CHECK(f.run({.argv = {"true"}}).value().succeeded());
}

TEST_CASE("Agent: a command that handles SIGTERM has the grace time", "[integration][agent]") {
  AgentFixture f;
  const ExecSpec spec{
      .argv = {"sh", "-c", "trap 'echo bye; exit 0' TERM; while :; do sleep 0.01; done"},
      .timeout = 200ms,
      .kill_grace = 30s};
  const auto result = f.run(spec);
  outcome_of<TimedOut>(result);
  CHECK(result->out.head == "bye\n");
}

TEST_CASE("Agent: a cancelled call ends the command and gives what it wrote",
          "[integration][agent]") {
  AgentFixture f;
  std::stop_source stop;
  const CallContext call{.stop = stop.get_token()};
  f.loop.call_at(f.clock.now() + 300ms, [&] { stop.request_stop(); });
  const auto result = f.run({.argv = {"sh", "-c", "echo $$; exec sleep 100"}}, call);
  outcome_of<Cancelled>(result);
  CHECK_FALSE(is_alive(result->out.head));
}

TEST_CASE("Agent: a call's deadline is a timeout of the command", "[integration][agent]") {
  AgentFixture f;
  const CallContext call{.deadline = f.clock.now() + 300ms};
  outcome_of<TimedOut>(f.run({.argv = {"sleep", "100"}}, call));
  const CallContext over{.deadline = f.clock.now()};
  CHECK(f.run({.argv = {"true"}}, over).error().code() == ErrorCode::kTimeout);
}

TEST_CASE("Agent: a background child that holds stdout does not hold the result [pain-36]",
          "[integration][agent][pain-36]") {
  AgentFixture f;
  const auto result = f.shell("sleep 1000 & echo $!");
  CHECK(outcome_of<Exited>(result).code == 0);
  const std::string child = result->out.head;
  CHECK(is_alive(child));
  // It goes on, and may write, when the result has been given; it ends with the agent's commands.
  ::kill(std::stoi(child), SIGKILL);
  CHECK(ends(child));
}

TEST_CASE("Agent: what goes on in the background can write after the result",
          "[integration][agent]") {
  AgentFixture f;
  const auto result = f.shell("(sleep 0.2; yes | head -c 300000; echo done > mark) &");
  CHECK(outcome_of<Exited>(result).code == 0);
  for (int i = 0; i < 1000 && f.agent.get("mark").empty(); ++i) ::usleep(10'000);
  CHECK(f.agent.get("mark") == "done\n");
}

TEST_CASE("Agent: a command that closes its output still reports its end [pain-44]",
          "[integration][agent][pain-44]") {
  AgentFixture f;
  CHECK(outcome_of<Exited>(f.shell("exec >&- 2>&-; sleep 0.2; exit 5")).code == 5);
}

TEST_CASE("Agent: SIGTERM ends the agent and all that it runs", "[integration][agent]") {
  AgentFixture f;
  const auto result = f.shell("setsid sleep 1000 & echo $!");
  REQUIRE(result);
  ::kill(f.agent.pid(), SIGTERM);
  CHECK(ends(result->out.head));
}

TEST_CASE("Agent: a start that is called off leaves no command behind, whenever that is",
          "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec{.argv = {"sleep", "1000"}};
  spec.kill_grace = 60s;
  for (auto patience = 0us; patience < 3ms; patience += 100us) {
    INFO(patience.count() << " us");
    const CallContext call{.deadline = f.clock.now() + patience, .stop = {}};
    const auto started = f.wait(f.guest->start("", spec, false, call));
    if (started) {
      REQUIRE(f.wait((*started)->cancel({})));
      REQUIRE(f.wait((*started)->wait({})));
    }
    CHECK(f.wait(f.guest->status({})).value().running_commands == 0);
  }
}

TEST_CASE("Agent: a command that is called off while it starts is asked to end all the same",
          "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec{.argv = {"sleep", "1000"}};
  spec.kill_grace = 60s;
  const Instant began = f.clock.now();
  for (auto patience = 0us; patience < 3ms; patience += 100us) {
    const CallContext call{.deadline = f.clock.now() + patience, .stop = {}};
    static_cast<void>(f.run(spec, call));
  }
  // One that waits out its grace would take all of that.
  CHECK(f.clock.now() - began < spec.kill_grace);
}

// Commands on a terminal.
#include <csignal>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/guest_streams.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;
using test::read_all;
using test::read_until;

namespace {

ExecSpec on_terminal(const std::string& line) {
  ExecSpec spec;
  spec.argv = {"/bin/sh", "-c", line};
  spec.terminal = TerminalSize{30, 100};
  spec.kill_grace = 200ms;
  return spec;
}

std::shared_ptr<GuestProcess> start(AgentFixture& f, const std::string& line) {
  const ExecSpec spec = on_terminal(line);
  return f.wait(f.guest->start("", spec, true, {})).value();
}

}  // namespace

TEST_CASE("Terminal: the command has one, of the size that was asked for", "[integration][agent]") {
  AgentFixture f;
  const auto result = f.run(on_terminal("test -t 0 && test -t 1 && test -t 2 && stty size; tty"));
  REQUIRE(result);
  CHECK(result->out.head.starts_with("30 100\r\n/dev/"));
  CHECK(result->err.total_bytes == 0);
  CHECK(result->succeeded());
  CHECK(f.run(on_terminal("echo $TERM"))->out.head == "xterm-256color\r\n");
}

TEST_CASE("Terminal: what is typed is echoed, and Ctrl-C interrupts", "[integration][agent]") {
  AgentFixture f;
  const auto process =
      start(f, "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 1; done");
  read_until(f, process, "ready");
  test::type(f, process, "\x03");
  CHECK(read_all(f, process).find("caught") != std::string::npos);
  CHECK(std::get<Exited>(f.wait(process->wait({})).value().outcome).code == 5);
}

TEST_CASE("Terminal: Ctrl-C ends what is in the foreground of it", "[integration][agent]") {
  AgentFixture f;
  const auto process = start(f, "echo ready; exec sleep 1000");
  read_until(f, process, "ready");
  test::type(f, process, "\x03");
  CHECK(std::get<Signaled>(f.wait(process->wait({})).value().outcome).signal == SIGINT);
}

TEST_CASE("Terminal: a new size is told to the program", "[integration][agent]") {
  AgentFixture f;
  const auto process =
      start(f, "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done");
  read_until(f, process, "ready");
  f.wait(process->resize({50, 120}, {})).value();
  CHECK(read_until(f, process, "50 120").find("50 120") != std::string::npos);
  f.wait(process->wait({})).value();
  CHECK(f.wait(process->resize({50, 121}, {})).error().code() == ErrorCode::kNotFound);
  const ExecSpec plain{.argv = {"sleep", "1000"}};
  const auto without = f.wait(f.guest->start("", plain, false, {})).value();
  CHECK(f.wait(without->resize({50, 120}, {})).error().code() == ErrorCode::kFailedPrecondition);
}

TEST_CASE("Terminal: the end of stdin is the end of what is typed", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = on_terminal("stty -echo; cat; echo end");
  CHECK(f.run(spec)->out.head.ends_with("end\r\n"));
  spec.stdin_data = "no line's end";
  const std::string text = f.run(spec)->out.head;
  CHECK(text.find("no line's end") != std::string::npos);
  CHECK(text.ends_with("end\r\n"));
}

TEST_CASE("Terminal: all that was written before the end comes", "[integration][agent]") {
  AgentFixture f;
  for (int i = 0; i < 20; ++i) {
    const auto result = f.run(on_terminal("seq 1 2000; printf LAST"));
    REQUIRE(result);
    CHECK(result->out.head.ends_with("\r\n2000\r\nLAST"));
  }
}

TEST_CASE("Terminal: it hangs up at the end, so nothing that held it goes on",
          "[integration][agent]") {
  AgentFixture f;
  const auto result = f.run(on_terminal("sleep 1000 & echo $!"));
  REQUIRE(result);
  const std::string child = result->out.head;
  CHECK(test::soon([&] { return !test::is_running(child); }));
}

TEST_CASE("Terminal: a background process can have one too", "[integration][agent]") {
  AgentFixture f;
  const ExecSpec spec = on_terminal("read x; stty size; read x");
  const auto info = f.wait(f.guest->start_process("", spec, {}, {})).value();
  CHECK(info.has_terminal);
  const auto process = f.wait(f.guest->attach(info.id, {}, {})).value();
  f.wait(process->resize({10, 20}, {})).value();
  test::type(f, process, "\n");
  read_until(f, process, "10 20");
  test::type(f, process, "\x03");
  CHECK(std::get<Signaled>(f.wait(process->wait({})).value().outcome).signal == SIGINT);
}

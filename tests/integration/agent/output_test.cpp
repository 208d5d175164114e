#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "base/text/utf8.hpp"
#include "support/fixtures/agent_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

/// Most memory that a process ever had, in KiB.
long peak_memory(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return -1;
}

std::string text_of(const Bytes& bytes) {
  // SAFETY: bytes seen as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Task<Result<std::string>> read_all(std::shared_ptr<GuestProcess> process) {
  const CallContext call;
  std::string all;
  for (;;) {
    COVE_CO_TRY(const OutputChunk chunk, co_await process->next_output(call));
    if (chunk.bytes.empty()) co_return all;
    all += text_of(chunk.bytes);
  }
}

std::shared_ptr<GuestProcess> start(AgentFixture& f, const ExecSpec& spec,
                                    bool keep_stdin = false) {
  return f.wait(f.guest->start("", spec, keep_stdin, {})).value();
}

}  // namespace

TEST_CASE("Agent: 100 MB of output keep head and tail in bounded memory", "[integration][agent]") {
  AgentFixture f;
  f.shell("true").value();
  const long before = peak_memory(f.agent.pid());
  const auto result = f.shell("printf BEGIN; head -c 100000000 /dev/zero; printf END").value();
  CHECK(result.out.total_bytes == 100'000'008);
  CHECK(result.out.head.starts_with("BEGIN"));
  CHECK(result.out.tail.ends_with("END"));
  CHECK(result.out.head.size() == 50 * 1024);
  CHECK(result.out.tail.size() == 50 * 1024);
  CHECK(result.out.dropped_bytes == 100'000'008 - 100 * 1024);
  CHECK(peak_memory(f.agent.pid()) - before < 8 * 1024);
}

TEST_CASE("Agent: past max_total_bytes the tree is killed", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec{.argv = {"sh", "-c", "yes & yes"}};
  spec.output.max_total_bytes = 5'000'000;
  const auto result = f.run(spec).value();
  CHECK(std::holds_alternative<OutputLimitReached>(result.outcome));
  CHECK(result.out.total_bytes > 5'000'000);
  CHECK(result.out.head.starts_with("y\ny\n"));
}

TEST_CASE("Agent: no character is cut in what is kept [pain-52]", "[integration][agent][pain-52]") {
  AgentFixture f;
  ExecSpec spec{
      .argv = {"sh", "-c", "i=0; while [ $i -lt 500 ]; do printf 数据é; i=$((i+1)); done"}};
  for (const std::uint64_t limit : {100U, 101U, 102U, 103U}) {
    spec.output.head_bytes = spec.output.tail_bytes = limit;
    const auto result = f.run(spec).value();
    CHECK(base::is_utf8(result.out.head));
    CHECK(base::is_utf8(result.out.tail));
    CHECK(result.out.dropped_bytes > 0);
  }
}

TEST_CASE("Agent: stdin arrives whole, then its end", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec{.argv = {"sha256sum"}, .stdin_data = "hello"};
  CHECK(f.run(spec).value().out.head.starts_with(
      "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"));
  spec.argv = {"wc", "-c"};
  spec.stdin_data = std::string(20'000'000, 'x');
  CHECK(f.run(spec).value().out.head == "20000000\n");
  spec.stdin_data.clear();
  CHECK(f.run(spec).value().out.head == "0\n");
}

TEST_CASE("Agent: a command that does not read its stdin ends all the same",
          "[integration][agent]") {
  AgentFixture f;
  const ExecSpec spec{.argv = {"sh", "-c", "exec <&-; echo done"},
                      .stdin_data = std::string(20'000'000, 'x')};
  CHECK(f.run(spec).value().out.head == "done\n");
  const ExecSpec slow{.argv = {"sh", "-c", "sleep 0.2; exit 3"},
                      .stdin_data = std::string(20'000'000, 'x')};
  CHECK(f.run(slow).value().shell_code() == 3);
}

TEST_CASE("GuestProcess: output comes as it is written, in order", "[integration][agent]") {
  AgentFixture f;
  const auto process = start(f, {.argv = {"sh", "-c", "echo one; read x; echo $x; exit 4"}}, true);
  const auto first = f.wait(process->next_output({})).value();
  CHECK(text_of(first.bytes) == "one\n");
  CHECK(first.stream == OutputStream::kOut);
  const std::string line = "two\n";
  REQUIRE(f.wait(process->write_stdin(std::as_bytes(std::span(line)), {})));
  CHECK(f.wait(read_all(process)).value() == "two\n");
  CHECK(f.wait(process->wait({})).value().shell_code() == 4);
}

TEST_CASE("GuestProcess: closing stdin is the end of the command's input", "[integration][agent]") {
  AgentFixture f;
  const auto process = start(f, {.argv = {"cat"}, .stdin_data = "first "}, true);
  const std::string rest(3'000'000, 'r');
  const auto reader = [](std::shared_ptr<GuestProcess> cat,
                         const std::string& bytes) -> Task<bool> {
    const CallContext call;
    const auto view = std::as_bytes(std::span(bytes));
    const auto written = co_await cat->write_stdin(view, call);
    const auto closed = co_await cat->close_stdin(call);
    co_return written&& closed;
  };
  auto written = std::make_shared<bool>(false);
  base::spawn(f.loop, [](Task<bool> task, std::shared_ptr<bool> to) -> Task<void> {
    *to = co_await task;
  }(reader(process, rest), written));
  CHECK(f.wait(read_all(process)).value() == "first " + rest);
  CHECK(f.wait(process->wait({})).value().succeeded());
  CHECK(*written);
}

TEST_CASE("GuestProcess: a reader that does not read makes the command wait, and loses nothing",
          "[integration][agent]") {
  AgentFixture f;
  const auto process = start(f, {.argv = {"sh", "-c", "head -c 20000000 /dev/zero; echo end >&2"}});
  const auto other = f.run({.argv = {"echo", "others go on"}});
  CHECK(other.value().out.head == "others go on\n");
  CHECK(peak_memory(f.agent.pid()) < 200'000);
  CHECK(f.wait(read_all(process)).value().size() == 20'000'004);
  CHECK(f.wait(process->wait({})).value().succeeded());
}

TEST_CASE("GuestProcess: wait takes what nobody read into the result", "[integration][agent]") {
  AgentFixture f;
  const auto process = start(f, {.argv = {"sh", "-c", "head -c 3000000 /dev/zero; exit 9"}});
  const CallContext soon{.deadline = f.clock.now()};
  CHECK(f.wait(process->wait(soon)).error().code() == ErrorCode::kTimeout);
  const auto result = f.wait(process->wait({})).value();
  CHECK(result.shell_code() == 9);
  CHECK(result.out.total_bytes == 3'000'000);
  CHECK(result.out.head.size() == 50 * 1024);
}

TEST_CASE("GuestProcess: a signal arrives, and is refused after the end", "[integration][agent]") {
  AgentFixture f;
  const auto process = start(
      f, {.argv = {"sh", "-c", "trap 'exit 6' USR1; echo ready; while :; do sleep 0.01; done"}});
  CHECK(text_of(f.wait(process->next_output({})).value().bytes) == "ready\n");
  CHECK(f.wait(process->signal(99, {})).error().code() == ErrorCode::kInvalidArgument);
  REQUIRE(f.wait(process->signal(SIGUSR1, {})));
  CHECK(f.wait(process->wait({})).value().shell_code() == 6);
  CHECK(f.wait(process->signal(SIGUSR1, {})).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("GuestProcess: letting it go ends the command", "[integration][agent]") {
  AgentFixture f;
  auto process = start(f, {.argv = {"sh", "-c", "echo $$; exec sleep 1000"}});
  const auto pid = std::stoi(text_of(f.wait(process->next_output({})).value().bytes));
  process.reset();
  for (int i = 0; i < 1000 && ::kill(pid, 0) == 0; ++i) ::usleep(10'000);
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("GuestProcess: a start that fails says why", "[integration][agent]") {
  AgentFixture f;
  const ExecSpec spec{.argv = {"no-such-program"}};
  CHECK(f.wait(f.guest->start("", spec, false, {})).error().code() == ErrorCode::kNotFound);
}

// What a command may be asked to be: a shell's line, merged, quiet, nice, spilled, limited.
#include <catch2/catch.hpp>

#include "base/text/utf8.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/guest_streams.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

ExecSpec line(const std::string& text) {
  ExecSpec spec;
  spec.shell_line = text;
  spec.kill_grace = 200ms;
  return spec;
}

}  // namespace

TEST_CASE("Exec: a shell's line is run by the shell, however long", "[integration][agent]") {
  AgentFixture f;
  CHECK(f.run(line("echo $((1 + 2)) | tr 3 4"))->out.head == "4\n");
  const std::string large(100'000, 'x');
  CHECK(f.run(line("x=" + large + "; echo ${#x}")).value().out.head == "100000\n");
  CHECK(f.run(line(": " + large + large)).error().code() == ErrorCode::kTooLarge);
  ExecSpec both = line("true");
  both.argv = {"true"};
  CHECK(f.run(both).error().code() == ErrorCode::kInvalidArgument);
  CHECK(f.run(line(std::string("a\0b", 3))).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Exec: merged output comes in the order in which it was written",
          "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("for i in 1 2 3; do echo out$i; echo err$i >&2; done");
  spec.merge_output = true;
  const auto result = f.run(spec).value();
  CHECK(result.out.head == "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
  CHECK(result.err.total_bytes == 0);
}

TEST_CASE("Exec: niceness is the command's", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("nice");
  spec.niceness = 7;
  CHECK(f.run(spec)->out.head == "7\n");
  spec.niceness = 20;
  CHECK(f.run(spec).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Exec: a command that goes quiet is ended, one that speaks is not [pain-48]",
          "[integration][agent][pain-41][pain-48]") {
  AgentFixture f;
  ExecSpec spec = line("echo before; sleep 1000");
  spec.quiet_timeout = 500ms;
  auto result = f.run(spec).value();
  REQUIRE(std::holds_alternative<TimedOut>(result.outcome));
  CHECK(std::get<TimedOut>(result.outcome).quiet);
  CHECK(result.out.head == "before\n");
  spec = line("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done");
  spec.quiet_timeout = 1400ms;
  result = f.run(spec).value();
  CHECK(result.succeeded());
  CHECK(result.duration > 1500ms);
}

TEST_CASE("Exec: a command whose output is not read is not quiet, it waits",
          "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("head -c 2000000 /dev/zero");
  spec.quiet_timeout = 300ms;
  const auto process = f.wait(f.guest->start("", spec, false, {})).value();
  // Time passes while nobody reads: what is waited for is another command's end.
  CHECK(f.run(line("sleep 1"))->succeeded());
  CHECK(test::read_all(f, process).size() == 2'000'000);
  CHECK(f.wait(process->wait({}))->succeeded());
}

TEST_CASE("Exec: what is dropped is in the spill file, whole", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("seq 1 100000; echo err >&2");
  spec.output.head_bytes = spec.output.tail_bytes = 100;
  spec.output.spill = true;
  const auto result = f.run(spec).value();
  CHECK(result.out.dropped_bytes == result.out.total_bytes - 200);
  REQUIRE_FALSE(result.out.spill_path.empty());
  CHECK(result.err.spill_path.empty());
  CHECK(f.shell("seq 1 100000 | cmp - " + result.out.spill_path)->succeeded());
}

TEST_CASE("Exec: nothing is spilled where nothing is dropped, or nobody asked",
          "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("seq 1 1000");
  spec.output.spill = true;
  CHECK(f.run(spec)->out.spill_path.empty());
  spec.output.spill = false;
  spec.output.head_bytes = spec.output.tail_bytes = 10;
  CHECK(f.run(spec)->out.spill_path.empty());
  CHECK_FALSE(f.shell("ls " + f.agent.home() + "/.cove")->succeeded());
}

TEST_CASE("Exec: a streamed command spills too", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("seq 1 100000");
  spec.output.head_bytes = spec.output.tail_bytes = 100;
  spec.output.spill = true;
  const auto process = f.wait(f.guest->start("", spec, false, {})).value();
  CHECK(test::read_all(f, process).size() == 588'895);
  const auto result = f.wait(process->wait({})).value();
  CHECK(result.out.dropped_bytes == 588'895 - 200);
  CHECK(f.shell("seq 1 100000 | cmp - " + result.out.spill_path)->succeeded());
}

TEST_CASE("Exec: lines are limits too, and what they leave out is spilled",
          "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec = line("seq 1 1000");
  spec.output.head_lines = 3;
  spec.output.tail_lines = 2;
  spec.output.spill = true;
  const auto result = f.run(spec).value();
  CHECK(result.out.head == "1\n2\n3\n");
  CHECK(result.out.tail == "999\n1000\n");
  CHECK(result.out.dropped_bytes == result.out.total_bytes - 6 - 9);
  CHECK(f.shell("seq 1 1000 | cmp - " + result.out.spill_path)->succeeded());
}

TEST_CASE("Exec: what a command used is told", "[integration][agent]") {
  AgentFixture f;
  const auto result =
      f.run(line("python3 -c 'x = bytearray(100 << 20); sum(range(3000000))'")).value();
  REQUIRE(result.succeeded());
  CHECK(result.usage.peak_memory_bytes > (100U << 20));
  CHECK(result.usage.peak_memory_bytes < (400U << 20));
  CHECK(result.usage.user_cpu > 10ms);
  CHECK(result.usage.system_cpu > 0ms);
  CHECK(result.usage.best_effort);
  // What was killed counts too.
  ExecSpec spec = line("while :; do :; done");
  spec.timeout = 3s;  // long, so that a busy machine gives it some of its processors
  CHECK(f.run(spec)->usage.user_cpu > 50ms);
}

TEST_CASE("Exec: processor time is limited for all processes together [pain-56]",
          "[integration][agent][pain-56]") {
  AgentFixture f;
  ExecSpec spec = line("for i in 1 2 3 4; do (while :; do :; done) & done; wait");
  spec.limits.cpu_seconds = 1;
  const auto result = f.run(spec).value();
  CHECK(std::holds_alternative<CpuLimitReached>(result.outcome));
  CHECK(result.shell_code() == 137);
  CHECK(f.run(line("true"))->succeeded());
}

TEST_CASE("Exec: where there is no group memory is limited process by process, and said so",
          "[integration][agent][pain-56]") {
  AgentFixture f;
  ExecSpec spec = line("python3 -c 'x = bytearray(512 << 20)'");
  spec.limits.memory_bytes = 256 << 20;
  const auto result = f.run(spec).value();
  CHECK_FALSE(result.succeeded());
  CHECK(result.err.head.find("MemoryError") != std::string::npos);
  CHECK(result.usage.best_effort);
}

TEST_CASE("StreamOutput: text is UTF-8 whatever the bytes are [pain-52]",
          "[integration][agent][pain-52]") {
  AgentFixture f;
  const auto result = f.run(line("printf 'a\\377b\\303'; printf '\\303\\251\\n'")).value();
  CHECK(result.out.text() == "a\\xffb\\xc3\xc3\xa9\n");
  ExecSpec spec = line("i=0; while [ $i -lt 100 ]; do printf 数据; i=$((i+1)); done");
  for (const std::uint64_t limit : {20U, 21U, 22U}) {
    spec.output.head_bytes = spec.output.tail_bytes = limit;
    const std::string text = f.run(spec)->out.text();
    CHECK(base::is_utf8(text));
    CHECK(text.find("bytes left out]") != std::string::npos);
    CHECK(text.find("\\x") == std::string::npos);
  }
}

// Background processes.
#include <csignal>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/guest_streams.hpp"
#include "support/raw/raw_wire.hpp"
#include "wire/reply.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;
using test::read_all;
using test::read_until;
using test::soon;
using test::text_of;

namespace {

ProcessInfo start(AgentFixture& f, const std::string& line, const ProcessOptions& options = {}) {
  ExecSpec spec;
  spec.argv = {"/bin/sh", "-c", line};
  spec.kill_grace = 200ms;
  return f.wait(f.guest->start_process("", spec, options, {})).value();
}

ProcessInfo find(AgentFixture& f, const ProcessId& id) {
  return f.wait(f.guest->find_process(id, {})).value();
}

OutputSlice slice(AgentFixture& f, const ProcessId& id, const OutputRequest& request) {
  return f.wait(f.guest->process_output(id, request, {})).value();
}

std::shared_ptr<GuestProcess> attach(AgentFixture& f, const ProcessId& id,
                                     const AttachOptions& options = {}) {
  return f.wait(f.guest->attach(id, options, {})).value();
}

bool ends(AgentFixture& f, const ProcessId& id) {
  return soon([&] { return find(f, id).end.has_value(); });
}

void end_with(AgentFixture& f, const ProcessId& id, int signal) {
  f.wait(attach(f, id)->signal(signal, {})).value();
  REQUIRE(ends(f, id));
}

}  // namespace

TEST_CASE("Process: it is known by its id, listed in order, and says what it is",
          "[integration][agent]") {
  AgentFixture f;
  ProcessOptions options;
  options.name = "web 数据";
  options.keep_alive = 3600s;
  const ProcessInfo first = start(f, "sleep 1000", options);
  const ProcessInfo second = start(f, "echo out; echo err >&2; exit 3");
  CHECK(first.id.str().size() == 32);
  CHECK(first.name == "web 数据");
  CHECK(first.command == "/bin/sh -c sleep 1000");
  CHECK(first.cwd == f.agent.workspace());
  CHECK(first.keep_alive == 3600s);
  CHECK(first.stdin_open);
  CHECK_FALSE(first.has_terminal);
  CHECK_FALSE(first.end);
  const auto age = std::chrono::system_clock::now() - first.started_at;
  CHECK(age < 60s);
  CHECK(age > -1s);
  REQUIRE(ends(f, second.id));
  const auto all = f.wait(f.guest->list_processes({})).value();
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == first.id);
  CHECK(std::get<Exited>(all[1].end->outcome).code == 3);
  CHECK(all[1].end->out.total_bytes == 4);
  CHECK(all[1].err_bytes == 4);
  const auto status = f.wait(f.guest->status({})).value();
  CHECK(status.running_commands == 0);
  CHECK(status.keep_alive_commands == 1);
}

TEST_CASE("Process: what cannot be started is told, and leaves nothing", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec;
  spec.argv = {"no-such-program"};
  CHECK(f.wait(f.guest->start_process("", spec, {}, {})).error().code() == ErrorCode::kNotFound);
  ProcessOptions options;
  options.name = "\xff";
  spec.argv = {"true"};
  CHECK(f.wait(f.guest->start_process("", spec, options, {})).error().code() ==
        ErrorCode::kInvalidArgument);
  options.name = std::string(101, 'x');
  CHECK(f.wait(f.guest->start_process("", spec, options, {})).error().code() ==
        ErrorCode::kInvalidArgument);
  CHECK(f.wait(f.guest->list_processes({})).value().empty());
  for (const char* id : {"", "x", "00000000000000000000000000000000"}) {
    CHECK(f.wait(f.guest->find_process(ProcessId(id), {})).error().code() == ErrorCode::kNotFound);
  }
}

TEST_CASE("Process: its output is read from any offset, and waited for", "[integration][agent]") {
  AgentFixture f;
  const ProcessInfo info = start(f, "printf abc; read x; printf def; printf e >&2; read y");
  OutputRequest request;
  request.wait_for = 10s;
  request.limit = 2;
  OutputSlice got = slice(f, info.id, request);
  CHECK(text_of(got.bytes) == "ab");
  CHECK(got.next == 2);
  CHECK_FALSE(got.at_end);
  request.offset = 3;
  request.wait_for = 0ms;
  CHECK(slice(f, info.id, request).bytes.empty());
  request.offset = 4;
  CHECK(f.wait(f.guest->process_output(info.id, request, {})).error().code() ==
        ErrorCode::kInvalidArgument);
  const auto process = attach(f, info.id);
  test::type(f, process, "\n");
  request.offset = 3;
  request.limit = 100;
  request.wait_for = 10s;
  CHECK(slice(f, info.id, request).offset == 3);
  test::type(f, process, "\n");
  REQUIRE(ends(f, info.id));
  request.offset = 0;
  got = slice(f, info.id, request);
  CHECK(text_of(got.bytes) == "abcdef");
  CHECK(got.at_end);
  CHECK(got.gone == 0);
  request.stream = OutputStream::kErr;
  CHECK(text_of(slice(f, info.id, request).bytes) == "e");
  request.limit = 0;
  CHECK(f.wait(f.guest->process_output(info.id, request, {})).error().code() ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("Process: it survives its host, another host reads and ends it [pain-46]",
          "[integration][agent][pain-46]") {
  AgentFixture f;
  const ProcessInfo info = start(f, "echo one; read x; echo got $x; exec sleep 1000");
  f.guest.reset();
  f.guest = f.connect();
  const auto process = attach(f, info.id);
  CHECK(read_until(f, process, "one\n") == "one\n");
  test::type(f, process, "word\n");
  CHECK(read_until(f, process, "word\n") == "got word\n");
  f.wait(process->signal(SIGTERM, {})).value();
  const auto result = f.wait(process->wait({})).value();
  CHECK(std::get<Signaled>(result.outcome).signal == SIGTERM);
  CHECK(result.out.total_bytes == 13);
}

TEST_CASE("Process: several read all of it, from where they like; letting go ends nothing",
          "[integration][agent]") {
  AgentFixture f;
  const ProcessInfo info = start(f, "echo one; read x; echo two; read x; exit 4");
  OutputRequest wait_for_it;
  wait_for_it.wait_for = 10s;
  slice(f, info.id, wait_for_it);
  const auto first = attach(f, info.id);
  AttachOptions options;
  options.only_new = true;
  const auto second = attach(f, info.id, options);
  options.only_new = false;
  options.out_offset = 2;
  auto third = attach(f, info.id, options);
  test::type(f, second, "\n");
  CHECK(read_until(f, third, "two\n") == "e\ntwo\n");
  third.reset();
  options.out_offset = 100;
  CHECK(f.wait(f.guest->attach(info.id, options, {})).error().code() ==
        ErrorCode::kInvalidArgument);
  f.wait(first->close_stdin({})).value();
  CHECK(read_all(f, first) == "one\ntwo\n");
  CHECK(read_all(f, second) == "two\n");
  CHECK(std::get<Exited>(f.wait(second->wait({})).value().outcome).code == 4);
  CHECK(read_all(f, attach(f, info.id)) == "one\ntwo\n");
}

TEST_CASE("Process: a reader that does not read never holds it up, and is told what is gone",
          "[integration][agent]") {
  AgentFixture f;
  const ProcessInfo info = start(f, "read x; head -c 20000000 /dev/zero; printf END");
  const auto stuck = attach(f, info.id);
  test::type(f, attach(f, info.id), "\n");
  REQUIRE(ends(f, info.id));
  CHECK(find(f, info.id).out_bytes == 20'000'003);
  const std::string rest = read_all(f, stuck);
  CHECK(rest.ends_with("END"));
  CHECK(rest.size() < 3'000'000);
  const auto result = f.wait(stuck->wait({})).value();
  CHECK(result.out.total_bytes == 20'000'003);
  CHECK(result.out.dropped_bytes ==
        result.out.total_bytes - result.out.head.size() - result.out.tail.size());
  OutputRequest request;
  const OutputSlice oldest = slice(f, info.id, request);
  CHECK(oldest.gone == 20'000'003 - 1024 * 1024);
  CHECK(oldest.offset == oldest.gone);
  CHECK(oldest.bytes.size() == request.limit);
}

TEST_CASE("Process: with a spill file nothing of it is gone", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec;
  spec.shell_line = "for i in 1 2 3 4 5 6 7 8 9; do head -c 1000000 /dev/zero | tr '\\0' $i; done";
  spec.output.spill = true;
  const auto id = f.wait(f.guest->start_process("", spec, {}, {})).value().id;
  REQUIRE(ends(f, id));
  const ProcessInfo info = find(f, id);
  CHECK(info.end->out.spill_path == f.agent.home() + "/.cove/spill/" + id.str() + ".out");
  CHECK(info.end->err.spill_path.empty());
  OutputRequest request;
  request.offset = 2'999'999;
  request.limit = 2;
  CHECK(text_of(slice(f, id, request).bytes) == "34");
  const std::string all = read_all(f, attach(f, id));
  CHECK(all.size() == 9'000'000);
  CHECK(all[4'500'000] == '5');
  f.wait(f.guest->remove_process(id, {})).value();
  CHECK(f.shell("ls " + f.agent.home() + "/.cove/spill").value().out.head.empty());
  CHECK(f.wait(f.guest->find_process(id, {})).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Process: only an ended one can be removed, and 256 are the most",
          "[integration][agent][slow]") {
  AgentFixture f;
  const ProcessInfo runs = start(f, "exec sleep 1000");
  CHECK(f.wait(f.guest->remove_process(runs.id, {})).error().code() ==
        ErrorCode::kFailedPrecondition);
  for (int i = 1; i < 256; ++i) start(f, "exit 0");
  ExecSpec spec;
  spec.argv = {"true"};
  CHECK(f.wait(f.guest->start_process("", spec, {}, {})).error().code() ==
        ErrorCode::kQuotaExceeded);
  CHECK(f.wait(f.guest->list_processes({})).value().size() == 256);
  end_with(f, runs.id, SIGKILL);
  f.wait(f.guest->remove_process(runs.id, {})).value();
  CHECK(f.wait(f.guest->start_process("", spec, {}, {})));
}

TEST_CASE("Process: cancel ends its tree, a timeout too [pain-39]",
          "[integration][agent][pain-39]") {
  AgentFixture f;
  const ProcessInfo info = start(f, "trap '' TERM; setsid sleep 1000 & echo $!; wait");
  const auto process = attach(f, info.id);
  const std::string child = read_until(f, process, "\n");
  f.wait(process->cancel({})).value();
  CHECK(std::holds_alternative<Cancelled>(f.wait(process->wait({})).value().outcome));
  CHECK_FALSE(test::is_running(child));
  ExecSpec spec;
  spec.argv = {"sleep", "1000"};
  spec.timeout = 200ms;
  const auto late = f.wait(f.guest->start_process("", spec, {}, {})).value();
  REQUIRE(ends(f, late.id));
  CHECK(std::holds_alternative<TimedOut>(find(f, late.id).end->outcome));
}

TEST_CASE("Process: a start whose answer was lost is answered again, not done again",
          "[integration][agent]") {
  AgentFixture f;
  wire::ExecRequest exec;
  exec.spec.argv = {"/bin/sh", "-c", "echo x >> count; exec sleep 1000"};
  exec.background = ProcessOptions();
  wire::Request request;
  request.id.back() = std::byte{7};
  request.body = exec;
  test::RawWire first(f.agent.connect());
  first.greet();
  first.request(1, request);
  REQUIRE(soon([&] { return !f.agent.get("count").empty(); }));
  first.close();
  test::RawWire second(f.agent.connect());
  second.greet();
  second.request(1, request);
  const auto answer = second.receive_answer(1);
  REQUIRE(answer->type == wire::FrameType::kResponse);
  CHECK(wire::parse_process_info(answer->payload).value().id.str() ==
        "00000000000000000000000000000007");
  CHECK(f.agent.get("count") == "x\n");
}

TEST_CASE("Process: SIGTERM to the agent gives each its grace, then nothing is left",
          "[integration][agent]") {
  AgentFixture f;
  const ProcessInfo polite =
      start(f, "trap 'echo bye > bye; exit 0' TERM; echo $$; while :; do sleep 0.05; done");
  const ProcessInfo stubborn = start(f, "trap '' TERM; echo $$; while :; do sleep 0.05; done");
  OutputRequest request;
  request.wait_for = 20s;
  const std::string first = text_of(slice(f, polite.id, request).bytes);
  const std::string second = text_of(slice(f, stubborn.id, request).bytes);
  ::kill(f.agent.pid(), SIGTERM);
  CHECK(soon([&] { return !test::is_running(first) && !test::is_running(second); }));
  CHECK(f.agent.get("bye") == "bye\n");
}

TEST_CASE("Process: a write that it does not take ends with its call, and says how much went",
          "[integration][agent]") {
  AgentFixture f;
  const std::string input(900'000, 'x');
  const auto bytes = std::as_bytes(std::span(input));
  const auto written_in = [](const Error& error) -> std::size_t {
    for (const auto& [key, value] : error.context()) {
      if (key == "written") return std::stoul(value);
    }
    return 0;
  };
  const ProcessInfo deaf = start(f, "sleep 1009");
  const auto process = attach(f, deaf.id);
  const CallContext call{.deadline = f.clock.now() + 200ms, .stop = {}};
  const auto late = f.wait(process->write_stdin(bytes, call));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == ErrorCode::kTimeout);
  CHECK(written_in(late.error()) > 0);
  CHECK(written_in(late.error()) < input.size());
  end_with(f, deaf.id, SIGKILL);
  const ProcessInfo brief = start(f, "sleep 1");
  const auto cut = f.wait(attach(f, brief.id)->write_stdin(bytes, {}));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(written_in(cut.error()) < input.size());
}

TEST_CASE("Process: what a command that closed its stdin does not read counts as unwritten",
          "[integration][agent]") {
  AgentFixture f;
  const std::string input(900'000, 'x');
  const auto bytes = std::as_bytes(std::span(input));
  const ProcessInfo closed = start(f, "exec <&-; echo closed; exec sleep 1011");
  OutputRequest request;
  request.wait_for = 20s;
  REQUIRE(text_of(slice(f, closed.id, request).bytes) == "closed\n");
  CHECK_FALSE(find(f, closed.id).stdin_open);
  const auto check_refused = [&](GuestProcess& process) {
    const auto first = f.wait(process.write_stdin(bytes, {}));
    REQUIRE_FALSE(first);
    CHECK(first.error().code() == ErrorCode::kFailedPrecondition);
    CHECK(first.error().message().find("closed its stdin") != std::string::npos);
    const auto second = f.wait(process.write_stdin(bytes, {}));
    REQUIRE_FALSE(second);
    CHECK(second.error().message().find("is closed") != std::string::npos);
    CHECK(f.wait(process.close_stdin({})));
  };
  check_refused(*attach(f, closed.id));
  check_refused(*attach(f, closed.id));  // another writer, later

  ExecSpec spec;
  spec.shell_line = "exec <&-; echo closed; exec sleep 1011";
  const auto followed = f.wait(f.guest->start("", spec, true, {}));
  REQUIRE(followed);
  REQUIRE(text_of(f.wait((*followed)->next_output({}))->bytes) == "closed\n");
  check_refused(**followed);
  CHECK(f.wait((*followed)->cancel({})));
}

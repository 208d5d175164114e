// What is said about commands beyond the plain ones, and about background processes.
#include <catch2/catch.hpp>

#include "wire/cbor.hpp"
#include "wire/command_reply.hpp"
#include "wire/frame.hpp"
#include "wire/request.hpp"

using namespace cove;
using namespace std::chrono_literals;

namespace {

wire::RequestId id_of(unsigned char last) {
  wire::RequestId id{};
  id.back() = std::byte{last};
  return id;
}

template <class Body>
Body round_trip(Body body) {
  wire::Request request;
  request.id = id_of(3);
  request.body = std::move(body);
  const Bytes payload = wire::encode_request(request).value();
  return std::get<Body>(wire::parse_request(payload).value().body);
}

ProcessInfo some_info() {
  ProcessInfo info;
  info.id = ProcessId(std::string(31, '0') + "a");
  info.name = "web";
  info.command = "node server.js";
  info.cwd = "/workspace/\xff";
  info.started_at = std::chrono::sys_time<std::chrono::milliseconds>(1234567ms);
  info.keep_alive = 60s;
  info.has_terminal = true;
  info.stdin_open = true;
  info.out_bytes = 10;
  info.err_bytes = 20;
  return info;
}

}  // namespace

TEST_CASE("Request: all that a command may be asked comes through", "[unit][wire]") {
  wire::ExecRequest exec;
  exec.spec.argv = {"true"};
  exec.spec.quiet_timeout = 1500ms;
  exec.spec.output.head_lines = 4;
  exec.spec.output.tail_lines = 5;
  exec.spec.output.spill = true;
  exec.spec.limits = {1 << 20, 7, 8};
  exec.spec.niceness = 19;
  exec.spec.merge_output = true;
  exec.spec.terminal = TerminalSize{65'535, 1};
  exec.spec.orphan_grace = 1ms;
  exec.background = ProcessOptions{"web", 86'400s};
  const auto back = round_trip(exec);
  CHECK(back.spec.quiet_timeout == 1500ms);
  CHECK(back.spec.output.head_lines == 4);
  CHECK(back.spec.output.tail_lines == 5);
  CHECK(back.spec.output.spill);
  CHECK(back.spec.limits.memory_bytes == 1 << 20);
  CHECK(back.spec.limits.cpu_seconds == 7);
  CHECK(back.spec.limits.processes == 8);
  CHECK(back.spec.niceness == 19);
  CHECK(back.spec.merge_output);
  CHECK(back.spec.terminal->rows == 65'535);
  CHECK(back.spec.orphan_grace == 1ms);
  CHECK(back.background->name == "web");
  CHECK(back.background->keep_alive == 86'400s);
  exec.spec.orphan_grace.reset();
  CHECK_FALSE(round_trip(exec).spec.orphan_grace);
  CHECK(round_trip(wire::ExecRequest()).spec.orphan_grace == 5000ms);
  CHECK_FALSE(round_trip(wire::ExecRequest()).background);
}

TEST_CASE("Request: a shell's line travels in argv and comes out of it", "[unit][wire]") {
  wire::ExecRequest exec;
  exec.spec.shell_line = "echo \xff | wc";
  wire::pack_line(exec);
  CHECK(exec.spec.shell_line.empty());
  auto back = round_trip(exec);
  REQUIRE(back.shell);
  REQUIRE(wire::unpack_line(back));
  CHECK(back.spec.shell_line == "echo \xff | wc");
  CHECK(back.spec.argv.empty());
  back.shell = true;
  CHECK(wire::unpack_line(back).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Request: what is asked about a process comes through", "[unit][wire]") {
  const auto output = round_trip(
      wire::ProcessOutputRequest{id_of(9), {OutputStream::kErr, 1ULL << 40, 9, 60'000ms}});
  CHECK(output.process == id_of(9));
  CHECK(output.range.stream == OutputStream::kErr);
  CHECK(output.range.offset == 1ULL << 40);
  CHECK(output.range.limit == 9);
  CHECK(output.range.wait_for == 60'000ms);
  const auto attach = round_trip(wire::AttachRequest{id_of(8), {1, 2, true}, 3});
  CHECK(attach.process == id_of(8));
  CHECK(attach.from.out_offset == 1);
  CHECK(attach.from.err_offset == 2);
  CHECK(attach.from.only_new);
  CHECK(attach.credit == 3);
  CHECK(round_trip(wire::ResizeRequest{id_of(7), {24, 80}}).size.columns == 80);
  CHECK(round_trip(wire::FindProcessRequest{id_of(6)}).process == id_of(6));
  CHECK(round_trip(wire::RemoveProcessRequest{id_of(5)}).process == id_of(5));
  round_trip(wire::ListProcessesRequest{});
}

TEST_CASE("Request: sizes, streams and niceness out of range are malformed", "[unit][wire]") {
  const auto code = [](nlohmann::json map) {
    map["id"] = wire::byte_string(std::string(16, 'x'));
    map["command"] = map["process"] = wire::byte_string(std::string(16, 'y'));
    return wire::parse_request(wire::encode_cbor(map)).error().code();
  };
  CHECK(code({{"kind", 11}, {"rows", 65'536}, {"columns", 1}}) == ErrorCode::kIntegrity);
  CHECK(code({{"kind", 32}, {"stream", 3}}) == ErrorCode::kIntegrity);
  CHECK(code({{"kind", 2}, {"nice", 20}}) == ErrorCode::kIntegrity);
  CHECK(code({{"kind", 2}, {"background", {{"name", 5}}}}) == ErrorCode::kIntegrity);
}

TEST_CASE("check_exec: what is out of range is refused before it is sent", "[unit][wire]") {
  const auto code = [](const auto& change) {
    ExecSpec spec{.argv = {"true"}};
    change(spec);
    return wire::check_exec(spec).error().code();
  };
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  CHECK(code([](ExecSpec& spec) { spec.niceness = -1; }) == kInvalid);
  CHECK(code([](ExecSpec& spec) { spec.niceness = 20; }) == kInvalid);
  CHECK(code([](ExecSpec& spec) { spec.quiet_timeout = 0ms; }) == kInvalid);
  CHECK(code([](ExecSpec& spec) { spec.orphan_grace = -1ms; }) == kInvalid);
  CHECK(code([](ExecSpec& spec) { spec.terminal = TerminalSize{0, 80}; }) == kInvalid);
  CHECK(code([](ExecSpec& spec) { spec.shell_line = "both"; }) == kInvalid);
  CHECK(wire::check_background({"", 86'401s}).error().code() == kInvalid);
  for (const char* name : {"a\nb", "\x1b[31m", "\x7f", "\xC2\x9B", "\xE2\x80\xAE"}) {
    CHECK(wire::check_background({name, 0s}).error().code() == kInvalid);
  }
  CHECK(wire::check_background({"web \\ \xE6\x95\xB0", 0s}));
  CHECK(wire::check_background({"", -1s}).error().code() == kInvalid);
  CHECK(wire::check_output_request({OutputStream::kOut, 0, 0, 0ms}).error().code() == kInvalid);
  CHECK(wire::check_output_request({OutputStream::kOut, 0, 262'145, 0ms}).error().code() ==
        kInvalid);
  CHECK(wire::check_output_request({OutputStream::kOut, 0, 1, 60'001ms}).error().code() ==
        kInvalid);
}

TEST_CASE("ExecReply: usage, spill file and a time-out for silence come through", "[unit][wire]") {
  wire::ExecReply reply{.outcome = TimedOut{true}};
  reply.usage = {1 << 20, 5us, 6us, false};
  reply.err = {1, 2, 9, 6, "/home/\xff"};
  const auto back = wire::parse_exec_reply(wire::encode_exec_reply(reply)).value();
  CHECK(std::get<TimedOut>(back.outcome).quiet);
  CHECK(back.usage.peak_memory_bytes == 1 << 20);
  CHECK(back.usage.user_cpu == 5us);
  CHECK(back.usage.system_cpu == 6us);
  CHECK_FALSE(back.usage.best_effort);
  const ExecResult result = wire::result_of(back);
  CHECK(result.err.spill_path == "/home/\xff");
  CHECK(result.err.dropped_bytes == 6);
  const Bytes negative = wire::encode_cbor({{"ending", 1}, {"duration_us", -1}});
  CHECK(wire::parse_exec_reply(negative).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("ProcessInfo: it comes through, running and ended", "[unit][wire]") {
  ProcessInfo info = some_info();
  auto back = wire::parse_process_info(wire::encode_process_info(info)).value();
  CHECK(back.id == info.id);
  CHECK(back.name == info.name);
  CHECK(back.command == info.command);
  CHECK(back.cwd == info.cwd);
  CHECK(back.started_at == info.started_at);
  CHECK(back.keep_alive == info.keep_alive);
  CHECK(back.has_terminal);
  CHECK(back.stdin_open);
  CHECK(back.out_bytes == 10);
  CHECK(back.err_bytes == 20);
  CHECK_FALSE(back.end);
  info.end = ExecResult{.outcome = Signaled{15}};
  info.end->out.total_bytes = 10;
  back = wire::parse_process_info(wire::encode_process_info(info)).value();
  CHECK(std::get<Signaled>(back.end->outcome).signal == 15);
  CHECK(back.end->out.total_bytes == 10);
}

TEST_CASE("ProcessInfo: the words of a hostile one are cut and harmless", "[unit][wire]") {
  ProcessInfo info = some_info();
  info.command = "\x1b[2J\n" + std::string(5000, 'x');
  info.name = std::string(500, '\xff');
  const auto back = wire::parse_process_info(wire::encode_process_info(info)).value();
  CHECK(back.command.size() <= 1024);
  CHECK(back.command.starts_with("\\x1b[2J\\n"));
  CHECK(back.name.size() <= 100);
  info.id = ProcessId("short");
  CHECK(wire::parse_process_info(wire::encode_process_info(info)).error().code() ==
        ErrorCode::kIntegrity);
}

TEST_CASE("id_from_hex: 32 digits name a request, nothing else does", "[unit][wire]") {
  CHECK(wire::id_from_hex(std::string(30, '0') + "0a") == id_of(10));
  CHECK_FALSE(wire::id_from_hex(std::string(31, '0')));
  CHECK_FALSE(wire::id_from_hex(std::string(31, '0') + "A"));
  CHECK_FALSE(wire::id_from_hex(std::string(31, '0') + "g"));
}

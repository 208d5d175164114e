#include <algorithm>

#include <catch2/catch.hpp>

#include "wire/boot.hpp"
#include "wire/cbor.hpp"
#include "wire/frame.hpp"
#include "wire/greeting.hpp"
#include "wire/reply.hpp"
#include "wire/request.hpp"

using namespace cove;
using namespace std::chrono_literals;
using wire::Request;
using wire::RequestId;

namespace {

RequestId id_of(unsigned char last) {
  RequestId id{};
  id.back() = std::byte{last};
  return id;
}

template <class Body>
Body round_trip(Body body) {
  Request request;
  request.id = id_of(3);
  request.fence = 12;
  request.body = std::move(body);
  const auto parsed = wire::parse_request(wire::encode_request(request).value()).value();
  CHECK(parsed.id == request.id);
  CHECK(parsed.fence == 12);
  return std::get<Body>(parsed.body);
}

wire::Greeting greeting() {
  wire::Greeting greeting;
  greeting.deployment = "d";
  greeting.sandbox = "s";
  greeting.generation = "g";
  greeting.epoch = 4;
  return greeting;
}

}  // namespace

TEST_CASE("Request: a command comes through whole, bytes as bytes", "[unit][wire]") {
  wire::ExecRequest exec;
  exec.session = "sessions/\xff";
  exec.spec.argv = {"printf", "", "\x80\xff", "[a,b]"};
  exec.spec.env = {{"A", ""}, {"B", "\xfe="}};
  exec.spec.cwd = "sub dir";
  exec.spec.timeout = 1500ms;
  exec.spec.kill_grace = 0ms;
  exec.spec.output.max_total_bytes = 3;
  exec.streamed = true;
  exec.has_stdin = true;
  exec.credit = 99;
  const auto back = round_trip(exec);
  CHECK(back.session == exec.session);
  CHECK(back.spec.argv == exec.spec.argv);
  CHECK(back.spec.env == exec.spec.env);
  CHECK(back.spec.cwd == exec.spec.cwd);
  CHECK(back.spec.timeout == exec.spec.timeout);
  CHECK(back.spec.kill_grace == 0ms);
  CHECK(back.spec.output.max_total_bytes == 3);
  CHECK(back.streamed);
  CHECK(back.has_stdin);
  CHECK(back.credit == 99);
}

TEST_CASE("Request: files come through, options that are not given stay so", "[unit][wire]") {
  const auto read = round_trip(wire::ReadRequest{{"s", "\xff"}, {5, std::nullopt}, 7});
  CHECK(read.path.path == "\xff");
  CHECK(read.range.offset == 5);
  CHECK_FALSE(read.range.length);
  const auto write = round_trip(wire::WriteRequest{{"", "a"}, {0700U, false, true}});
  CHECK(write.options.mode == 0700U);
  CHECK_FALSE(write.options.create_parents);
  CHECK(write.options.durable);
  CHECK(round_trip(wire::RemoveRequest{{"", "a"}, true}).recursive);
  CHECK(round_trip(wire::ListRequest{{"", "a"}, {"b", 3}, 1}).options.after == "b");
  CHECK(round_trip(wire::SignalRequest{id_of(9), 15}).command == id_of(9));
}

TEST_CASE("Request: a stop that holds commands names itself", "[unit][wire]") {
  const auto held = round_trip(wire::PrepareStopRequest{"8f7e", 10'000});
  CHECK(held.by == "8f7e");
  CHECK(held.hold_ms == 10'000);
  CHECK(round_trip(wire::PrepareStopRequest{"8f7e", 0}).hold_ms == 0);
  for (const std::string& by : {std::string(), std::string(65, 'x')}) {
    Request request;
    request.body = wire::PrepareStopRequest{by, 1};
    const auto parsed = wire::parse_request(wire::encode_request(request).value());
    CHECK(parsed.error().code() == ErrorCode::kIntegrity);
  }
}

TEST_CASE("Request: a kind of a newer host is refused, not misread", "[unit][wire]") {
  const Bytes later = wire::encode_cbor(
      {{"id", wire::byte_string(std::string(16, 'x'))}, {"kind", 999}, {"what", 1}});
  CHECK(wire::parse_request(later).error().code() == ErrorCode::kUnsupported);
  const Bytes reserved =
      wire::encode_cbor({{"id", wire::byte_string(std::string(16, 'x'))}, {"kind", 19}});
  CHECK(wire::parse_request(reserved).error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("Request: an id that is not 16 bytes is refused", "[unit][wire]") {
  const Bytes bad = wire::encode_cbor({{"id", wire::byte_string("short")}, {"kind", 1}});
  CHECK(wire::parse_request(bad).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Arguments: packed ones come back, damaged ones are refused", "[unit][wire]") {
  ExecSpec spec{.argv = {"a", "", std::string(70'000, 'x')}, .env = {{"N", "v"}, {"E", ""}}};
  const Bytes packed = wire::pack_arguments(spec);
  ExecSpec back;
  REQUIRE(wire::unpack_arguments(packed, back));
  CHECK(back.argv == spec.argv);
  CHECK(back.env == spec.env);
  for (const std::size_t size : {0UL, 1UL, 3UL, packed.size() - 1}) {
    CHECK(wire::unpack_arguments(ByteView(packed).first(size), back).error().code() ==
          ErrorCode::kIntegrity);
  }
}

TEST_CASE("check_exec: what no kernel takes is refused with a reason", "[unit][wire]") {
  const auto code = [](const ExecSpec& spec) { return wire::check_exec(spec).error().code(); };
  CHECK(code({}) == ErrorCode::kInvalidArgument);
  CHECK(code({.argv = {""}}) == ErrorCode::kInvalidArgument);
  CHECK(code({.argv = {"a", std::string("b\0c", 3)}}) == ErrorCode::kInvalidArgument);
  CHECK(code({.argv = {"a"}, .env = {{"", "x"}}}) == ErrorCode::kInvalidArgument);
  CHECK(code({.argv = {"a"}, .env = {{"A=B", "x"}}}) == ErrorCode::kInvalidArgument);
  CHECK(wire::check_exec({.argv = {"a", ""}}));
}

TEST_CASE("ExecReply: every ending comes through", "[unit][wire]") {
  const Outcome outcomes[] = {Exited{255},          Signaled{9},   TimedOut{},       Cancelled{},
                              OutputLimitReached{}, OutOfMemory{}, CpuLimitReached{}};
  for (const auto& outcome : outcomes) {
    wire::ExecReply reply{.outcome = outcome, .duration = 5us, .out = {1, 2, 3, 4, {}}};
    const auto back = wire::parse_exec_reply(wire::encode_exec_reply(reply)).value();
    CHECK(back.outcome.index() == outcome.index());
    CHECK(back.out.dropped_bytes == 4);
  }
  const Bytes odd = wire::encode_cbor({{"ending", 77}});
  CHECK(wire::parse_exec_reply(odd).error().code() == ErrorCode::kIntegrity);
  const Bytes code = wire::encode_cbor({{"ending", 1}, {"value", 256}});
  CHECK(wire::parse_exec_reply(code).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Error: a hostile one is cut, cleaned and has a code that exists", "[unit][wire]") {
  const Bytes payload =
      wire::encode_cbor({{"code", 4711}, {"message", "\x1b[31mred\n" + std::string(9000, 'x')}});
  const Error error = wire::parse_error(payload).value();
  CHECK(error.code() == ErrorCode::kProvider);
  CHECK(error.message().size() <= 1024);
  CHECK(error.message().find('\x1b') == std::string::npos);
  const Error plain(ErrorCode::kPathEscape, "no way out");
  CHECK(wire::parse_error(wire::encode_error(plain))->code() == ErrorCode::kPathEscape);
  CHECK_FALSE(wire::parse_error(Bytes(3)));
}

TEST_CASE("Entries: many are cut into payloads that decode alone", "[unit][wire]") {
  std::vector<FileInfo> entries;
  for (int i = 0; i < 10'000; ++i) {
    entries.push_back({.path = "file-" + std::to_string(i),
                       .type = FileType::kSymlink,
                       .link_target = std::string(100, 'x')});
  }
  std::size_t seen = 0;
  for (const auto& payload : wire::encode_entries(entries)) {
    CHECK(payload.size() <= wire::kMaxControlBytes);
    for (const auto& entry : wire::parse_entries(payload).value()) {
      CHECK(entry.path == entries[seen++].path);
    }
  }
  CHECK(seen == entries.size());
}

TEST_CASE("Greeting: who it is decides", "[unit][wire]") {
  const auto theirs = wire::parse_greeting(wire::encode_greeting(greeting())).value();
  CHECK(wire::check_identity(greeting(), theirs));
  auto other = greeting();
  other.epoch = 5;
  CHECK(wire::check_identity(other, theirs).error().code() == ErrorCode::kConflict);
  other = greeting();
  other.generation = "h";
  CHECK(wire::check_identity(other, theirs).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Greeting: versions overlap or are refused with both ranges", "[unit][wire]") {
  auto ours = greeting();
  auto theirs = greeting();
  ours.min_version = 2;
  ours.max_version = 4;
  theirs.min_version = 3;
  theirs.max_version = 9;
  CHECK(wire::common_version(ours, theirs).value() == 4);
  theirs.min_version = 5;
  CHECK(wire::common_version(ours, theirs).error().code() == ErrorCode::kUnsupported);
  theirs.min_version = theirs.max_version = 0;
  ours.min_version = ours.max_version = 0;
  CHECK_FALSE(wire::common_version(ours, theirs));
}

TEST_CASE("AgentBoot: comes back from its own JSON", "[unit][wire]") {
  wire::AgentBoot boot;
  boot.deployment = "d\"";
  boot.epoch = 1ULL << 60;
  boot.listen_fd = 5;
  boot.environment = {{"PATH", "/bin"}};
  boot.command_cgroup_fds = {7, 8};
  boot.best_effort_limits = true;
  const auto back = wire::parse_agent_boot(wire::to_json(boot)).value();
  CHECK(back.deployment == boot.deployment);
  CHECK(back.epoch == boot.epoch);
  CHECK(back.environment == boot.environment);
  CHECK(back.command_cgroup_fds == boot.command_cgroup_fds);
  CHECK(back.memory_cgroup_fd == -1);
  CHECK(back.best_effort_limits);
}

TEST_CASE("AgentBoot: what is not one is refused and says why", "[unit][wire]") {
  const auto code = [](std::string_view json) {
    return wire::parse_agent_boot(json).error().code();
  };
  CHECK(code("") == ErrorCode::kInvalidArgument);
  CHECK(code("[]") == ErrorCode::kInvalidArgument);
  CHECK(code(R"({"version":2,"listen_fd":3})") == ErrorCode::kInvalidArgument);
  CHECK(code(R"({"version":1,"listen_fd":"3"})") == ErrorCode::kInvalidArgument);
  CHECK(code(R"({"version":1})") == ErrorCode::kInvalidArgument);
  CHECK(code(std::string(100'000, '[')) == ErrorCode::kInvalidArgument);
}

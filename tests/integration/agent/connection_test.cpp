#include <csignal>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/fixtures/agent_fixture.hpp"
#include "support/raw/raw_wire.hpp"
#include "wire/reply.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;
using test::AgentProcess;
using test::RawWire;

namespace {

wire::RequestId id_of(unsigned char last) {
  wire::RequestId id{};
  id.back() = std::byte{last};
  return id;
}

wire::Request shell_request(unsigned char id, const std::string& line, std::uint64_t fence = 0) {
  wire::ExecRequest exec;
  exec.spec.argv = {"/bin/sh", "-c", line};
  exec.spec.kill_grace = 100ms;
  wire::Request request;
  request.id = id_of(id);
  request.fence = fence;
  request.body = exec;
  return request;
}

wire::ExecReply reply_of(const std::optional<test::RawFrame>& frame) {
  REQUIRE(frame);
  REQUIRE(frame->type == wire::FrameType::kResponse);
  return wire::parse_exec_reply(frame->payload).value();
}

ErrorCode error_of(const std::optional<test::RawFrame>& frame) {
  REQUIRE(frame);
  REQUIRE(frame->type == wire::FrameType::kError);
  return wire::parse_error(frame->payload).value().code();
}

void wait_for_file(const AgentProcess& agent, const std::string& name) {
  for (int i = 0; i < 1000 && agent.get(name).empty(); ++i) ::usleep(10'000);
  REQUIRE_FALSE(agent.get(name).empty());
}

}  // namespace

TEST_CASE("Agent: its greeting and its status say who it is", "[integration][agent]") {
  AgentFixture f;
  const auto status = f.wait(f.guest->status({})).value();
  CHECK(status.build_id.size() == 40);
  CHECK(number_of(status.epoch) == 7);
  CHECK(status.running_commands == 0);
  CHECK(f.guest->capabilities().kill_tree);
  CHECK(f.guest->capabilities().exact_bytes);
  CHECK(f.guest->capabilities().pty);
}

TEST_CASE("connect_agent: another epoch is a conflict, another generation is no match",
          "[integration][agent]") {
  AgentFixture f;
  auto identity = f.agent.identity();
  identity.epoch = 8;
  CHECK(f.try_connect(f.agent.connect(), identity).error().code() == ErrorCode::kConflict);
  identity = f.agent.identity();
  identity.generation = "g2";
  CHECK(f.try_connect(f.agent.connect(), identity).error().code() == ErrorCode::kIntegrity);
  identity = f.agent.identity();
  identity.sandbox = "demo-2";
  CHECK(f.try_connect(f.agent.connect(), identity).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Agent: it refuses a host that means another epoch", "[integration][agent]") {
  AgentProcess agent;
  RawWire wire(agent.connect());
  auto greeting = wire::parse_greeting(wire.receive()->payload).value();
  greeting.epoch = 8;
  wire.send(wire::FrameType::kGreeting, 0, wire::encode_greeting(greeting));
  wire.request(1, shell_request(1, "echo done > mark"));
  CHECK(error_of(wire.receive()) == ErrorCode::kConflict);
  CHECK_FALSE(wire.receive());
  CHECK(agent.get("mark").empty());
}

TEST_CASE("Guest: an agent that is killed leaves no call waiting", "[integration][agent]") {
  AgentFixture f;
  f.loop.call_at(f.clock.now() + 200ms, [&] { ::kill(f.agent.pid(), SIGKILL); });
  CHECK(f.shell("sleep 1000").error().code() == ErrorCode::kUnavailable);
  CHECK(f.shell("true").error().code() == ErrorCode::kUnavailable);
  CHECK_FALSE(guest::is_connected(*f.guest));
}

TEST_CASE("Guest: many connections reach one agent, one after the other too",
          "[integration][agent]") {
  AgentFixture f;
  const auto second = f.connect();
  const ExecSpec spec{.argv = {"true"}};
  CHECK(f.wait(second->run("", spec, {})).value().succeeded());
  f.guest.reset();
  CHECK(f.wait(second->run("", spec, {})).value().succeeded());
  f.guest = f.connect();
  CHECK(f.shell("true").value().succeeded());
}

TEST_CASE("Agent: a request whose answer was lost is answered again, not done again",
          "[integration][agent]") {
  AgentProcess agent;
  RawWire first(agent.connect());
  first.greet();
  first.request(1, shell_request(1, "echo x >> count; echo out"));
  wait_for_file(agent, "count");
  first.close();
  RawWire second(agent.connect());
  second.greet();
  second.request(5, shell_request(1, "echo x >> count; echo out"));
  const auto data = second.receive();
  REQUIRE(data);
  CHECK(data->type == wire::FrameType::kData);
  CHECK(data->payload.size() == 4);
  CHECK(std::get<Exited>(reply_of(second.receive_answer(5)).outcome).code == 0);
  CHECK(agent.get("count") == "x\n");
  // Collected, it is forgotten: the id is new again.
  second.send(wire::FrameType::kCollected, 0, id_of(1));
  second.request(6, shell_request(1, "echo x >> count"));
  reply_of(second.receive_answer(6));
  CHECK(agent.get("count") == "x\nx\n");
}

TEST_CASE("Agent: a running command is found again by its id", "[integration][agent]") {
  AgentProcess agent;
  const auto line = "echo x >> count; while [ ! -e go ]; do sleep 0.01; done; exit 3";
  RawWire first(agent.connect());
  first.greet();
  first.request(1, shell_request(2, line));
  wait_for_file(agent, "count");
  first.close();
  RawWire second(agent.connect());
  second.greet();
  second.request(1, shell_request(2, line));
  agent.put("go", "");
  CHECK(std::get<Exited>(reply_of(second.receive_answer(1)).outcome).code == 3);
  CHECK(agent.get("count") == "x\n");
}

TEST_CASE("Agent: a command whose host is gone is ended after a grace time",
          "[integration][agent][slow]") {
  AgentProcess agent;
  RawWire wire(agent.connect());
  wire.greet();
  wire.request(1, shell_request(3, "echo $$ > pid; exec sleep 1000"));
  wait_for_file(agent, "pid");
  wire.close();
  const pid_t pid = std::stoi(agent.get("pid"));
  ::usleep(1'000'000);
  CHECK(::kill(pid, 0) == 0);
  for (int i = 0; i < 1500 && ::kill(pid, 0) == 0; ++i) ::usleep(10'000);
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("Agent: how long a command outlives its host is the command's to say",
          "[integration][agent]") {
  AgentProcess agent;
  RawWire wire(agent.connect());
  wire.greet();
  auto soon = shell_request(3, "echo $$ > soon; exec sleep 1000");
  std::get<wire::ExecRequest>(soon.body).spec.orphan_grace = 100ms;
  wire.request(1, soon);
  auto never = shell_request(4, "echo $$ > never; while [ ! -e go ]; do sleep 0.01; done; exit 6");
  std::get<wire::ExecRequest>(never.body).spec.orphan_grace.reset();
  std::get<wire::ExecRequest>(never.body).streamed = true;
  wire.request(2, never);
  wait_for_file(agent, "soon");
  wait_for_file(agent, "never");
  wire.close();
  const pid_t pid = std::stoi(agent.get("soon"));
  for (int i = 0; i < 1500 && ::kill(pid, 0) == 0; ++i) ::usleep(10'000);
  CHECK(::kill(pid, 0) != 0);
  CHECK(::kill(std::stoi(agent.get("never")), 0) == 0);
  agent.put("go", "");
  RawWire later(agent.connect());
  later.greet();
  later.request(1, never);
  CHECK(std::get<Exited>(reply_of(later.receive_answer(1)).outcome).code == 6);
  later.request(2, soon);
  CHECK(std::holds_alternative<Cancelled>(reply_of(later.receive_answer(2)).outcome));
}

TEST_CASE("Agent: a streamed command goes on where its next host takes it over [pain-53]",
          "[integration][agent][pain-46][pain-53]") {
  AgentProcess agent;
  auto request = shell_request(
      5, "echo x >> count; echo one; while [ ! -e go ]; do sleep 0.01; done; echo two");
  auto& exec = std::get<wire::ExecRequest>(request.body);
  exec.streamed = true;
  exec.credit = 4;
  exec.spec.timeout = 60s;
  RawWire first(agent.connect());
  first.greet();
  first.request(1, request);
  wait_for_file(agent, "count");
  while (first.receive()->type != wire::FrameType::kData) {
  }
  first.close();
  agent.put("go", "");
  RawWire second(agent.connect());
  second.greet();
  second.request(9, request);
  CHECK(second.receive()->type == wire::FrameType::kEvent);
  const auto data = second.receive();
  REQUIRE(data->type == wire::FrameType::kData);
  CHECK(data->payload.size() == 4);
  const auto reply = reply_of(second.receive_answer(9));
  CHECK(std::get<Exited>(reply.outcome).code == 0);
  CHECK(reply.out.total_bytes == 8);
  CHECK(agent.get("count") == "x\n");
}

TEST_CASE("Agent: a repeated mkdir or remove is answered with what came of the first",
          "[integration][agent]") {
  AgentProcess agent;
  agent.put("file", "x");
  RawWire wire(agent.connect());
  wire.greet();
  wire::Request request;
  request.id = id_of(4);
  request.body = wire::RemoveRequest{{"", "file"}, false};
  wire.request(1, request);
  CHECK(wire.receive_answer(1)->type == wire::FrameType::kResponse);
  agent.put("file", "y");
  wire.request(2, request);
  CHECK(wire.receive_answer(2)->type == wire::FrameType::kResponse);
  CHECK(agent.get("file") == "y");
}

TEST_CASE("Agent: a lower fencing token is refused, and a higher one ends what ran under it",
          "[integration][agent]") {
  AgentProcess agent;
  RawWire wire(agent.connect());
  wire.greet();
  wire.request(1, shell_request(5, "echo x > mark; sleep 1000", 10));
  wait_for_file(agent, "mark");
  wire.request(2, shell_request(6, "true", 11));
  CHECK(std::holds_alternative<Cancelled>(reply_of(wire.receive_answer(1)).outcome));
  wire.request(3, shell_request(7, "echo y > mark", 10));
  CHECK(error_of(wire.receive_answer(3)) == ErrorCode::kConflict);
  CHECK(agent.get("mark") == "x\n");
}

TEST_CASE("Guest: a call says under which lease it acts, and a late holder's is refused",
          "[integration][agent]") {
  AgentFixture f;
  const CallContext earlier{.deadline = {}, .stop = {}, .fence = 10};
  const CallContext later{.deadline = {}, .stop = {}, .fence = 11};
  ExecSpec spec;
  spec.argv = {"sleep", "1013"};
  const ProcessInfo kept = f.wait(f.guest->start_process("", spec, {}, earlier)).value();
  ExecSpec brief;
  brief.argv = {"true"};
  REQUIRE(f.wait(f.guest->run("", brief, later)));
  const auto refused = [](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == ErrorCode::kConflict);
  };
  refused(f.wait(f.guest->run("", brief, earlier)));
  refused(f.wait(f.guest->start("", brief, false, earlier)));
  refused(f.wait(f.guest->start_process("", brief, {}, earlier)));
  refused(f.wait(f.guest->status(earlier)));
  refused(f.wait(f.guest->stat({"", "file"}, earlier)));
  refused(f.wait(f.guest->make_directory({"", "made"}, earlier)));
  CHECK_FALSE(std::filesystem::exists(f.agent.workspace() + "/made"));
  // Who acts under no lease is not concerned, and what was left in the background on purpose stays.
  CHECK(f.wait(f.guest->run("", brief, {})));
  CHECK_FALSE(f.wait(f.guest->find_process(kept.id, {}))->end);
}

TEST_CASE("Agent: garbage ends its connection and nothing else", "[integration][agent]") {
  AgentFixture f;
  RawWire before(f.agent.connect());
  before.send_bytes(Bytes(100'000, std::byte{0x47}));
  before.receive();
  CHECK_FALSE(before.receive());
  RawWire after(f.agent.connect());
  after.greet();
  after.send(wire::FrameType::kRequest, 1, Bytes(60'000, std::byte{0x81}));
  CHECK(error_of(after.receive()) == ErrorCode::kIntegrity);
  // Data past every credit, to a command that reads nothing.
  auto request = shell_request(9, "sleep 1000");
  std::get<wire::ExecRequest>(request.body).has_stdin = true;
  after.request(2, request);
  for (int i = 0; i < 3; ++i) {
    after.send(wire::FrameType::kData, 2, Bytes(wire::kMaxDataBytes));
  }
  // Some credit comes, and then the end, which throws where it does not come.
  while (after.receive()) {
  }
  CHECK(f.shell("echo fine").value().out.head == "fine\n");
}

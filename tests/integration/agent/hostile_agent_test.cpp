// What a hostile agent may send: the host's calls end with an error, and nothing else happens.
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/raw/raw_wire.hpp"
#include "wire/cbor.hpp"
#include "wire/reply.hpp"
#include "wire/search_batch.hpp"
#include "wire/search_request.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::RawWire;

namespace {

const guest::AgentIdentity kIdentity{"d", "s", "g", 1};

/// Once it is late, it is behind the loop's own by nearly the ten seconds that a silent agent is
/// given: they pass at once.
class LateClock final : public Clock {
 public:
  Instant now() const override { return system_.now() - (late_ ? 9800ms : 0ms) + passed_.load(); }
  void be_late() { late_ = true; }
  void pass(Duration time) { passed_ = passed_.load() + time; }

 private:
  base::SystemClock system_;
  std::atomic<bool> late_ = false;
  std::atomic<Duration> passed_ = Duration(0);
};

/// A host, and the agent's end of its connection in our hands.
struct HostileFixture {
  HostileFixture() : HostileFixture(test::make_socket_pair()) {}

  Result<std::shared_ptr<Guest>> connect(const CallContext& call = {}) {
    const guest::GuestRuntime runtime{loop, clock, ids};
    return base::sync_wait(loop,
                           guest::connect_agent(runtime, std::move(host_end), kIdentity, call));
  }

  std::shared_ptr<Guest> greeted() {
    agent.send(wire::FrameType::kGreeting, 0, wire::encode_greeting(test::raw_greeting()));
    auto connected = connect().value();
    agent.receive();
    return connected;
  }

  /// Starts a call and lets the agent's end answer with `answer(stream)`.
  template <class Answer>
  ErrorCode status_when(Answer answer) {
    const auto guest = greeted();
    const CallContext call;
    Result<GuestStatus> status = Error(ErrorCode::kInternal, "no answer");
    std::thread caller([&] { status = base::sync_wait(loop, guest->status(call)); });
    const auto request = agent.receive();
    answer(request->stream);
    caller.join();
    later = base::sync_wait(loop, guest->status(call)).error().code();
    return status.error().code();
  }

  LateClock clock;
  base::SystemIds ids;
  base::IoLoop loop;
  RawWire agent;
  base::UniqueFd host_end;
  ErrorCode later = ErrorCode::kInternal;

 private:
  explicit HostileFixture(test::SocketPair pair)
      : agent(std::move(pair.first)), host_end(std::move(pair.second)) {}
};

}  // namespace

TEST_CASE("connect_agent: what is no agent is told apart from one that is gone",
          "[integration][guest]") {
  HostileFixture garbage;
  garbage.agent.send_bytes(Bytes(64, std::byte{'G'}));
  CHECK(garbage.connect().error().code() == ErrorCode::kProvider);

  HostileFixture gone;
  gone.agent.close();
  CHECK(gone.connect().error().code() == ErrorCode::kUnavailable);

  HostileFixture silent;
  const CallContext soon{.deadline = silent.clock.now() + 50ms};
  CHECK(silent.connect(soon).error().code() == ErrorCode::kTimeout);

  HostileFixture other;
  other.agent.send(wire::FrameType::kEvent, 1, {});
  CHECK(other.connect().error().code() == ErrorCode::kProvider);
}

TEST_CASE("connect_agent: an agent without a common version is unsupported",
          "[integration][guest]") {
  HostileFixture f;
  auto newer = test::raw_greeting();
  newer.min_version = newer.max_version = 99;
  f.agent.send(wire::FrameType::kGreeting, 0, wire::encode_greeting(newer));
  CHECK(f.connect().error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("Guest: an agent that closes makes its calls unavailable, now and later",
          "[integration][guest][threads]") {
  HostileFixture f;
  CHECK(f.status_when([&](std::uint32_t) { f.agent.close(); }) == ErrorCode::kUnavailable);
  CHECK(f.later == ErrorCode::kUnavailable);
}

TEST_CASE("Guest: garbage from the agent is a provider error, now and later",
          "[integration][guest][threads]") {
  HostileFixture f;
  CHECK(f.status_when([&](std::uint32_t) { f.agent.send_bytes(Bytes(4096, std::byte{0xFE})); }) ==
        ErrorCode::kProvider);
  CHECK(f.later == ErrorCode::kProvider);
}

TEST_CASE("Guest: frames that make no sense end the connection", "[integration][guest][threads]") {
  const auto code = [](wire::FrameType type, std::uint32_t offset, const Bytes& payload) {
    HostileFixture f;
    return f.status_when(
        [&](std::uint32_t stream) { f.agent.send(type, stream + offset, payload); });
  };
  CHECK(code(wire::FrameType::kResponse, 0, Bytes(60'000, std::byte{0x81})) ==
        ErrorCode::kProvider);
  CHECK(code(wire::FrameType::kResponse, 0, wire::encode_cbor({{"epoch", "seven"}})) ==
        ErrorCode::kProvider);
  CHECK(code(wire::FrameType::kResponse, 1, {}) == ErrorCode::kProvider);
  CHECK(code(wire::FrameType::kRequest, 0, {}) == ErrorCode::kProvider);
  CHECK(code(wire::FrameType::kCredit, 0, Bytes(8)) == ErrorCode::kProvider);
  CHECK(code(wire::FrameType::kData, 0, Bytes(1)) == ErrorCode::kProvider);
  CHECK(code(wire::FrameType::kError, 0, Bytes(1)) == ErrorCode::kProvider);
}

TEST_CASE("Guest: output past the limits that were asked for ends the connection",
          "[integration][guest][threads]") {
  HostileFixture f;
  const auto guest = f.greeted();
  const ExecSpec spec{.argv = {"true"}};
  Result<ExecResult> result = Error(ErrorCode::kInternal, "no answer");
  const CallContext call;
  std::thread caller([&] { result = base::sync_wait(f.loop, guest->run("", spec, call)); });
  const auto stream = f.agent.receive()->stream;
  for (int i = 0; i < 10; ++i) {
    f.agent.send(wire::FrameType::kData, stream, Bytes(wire::kMaxDataBytes), wire::Channel::kOut);
  }
  caller.join();
  CHECK(result.error().code() == ErrorCode::kProvider);
}

TEST_CASE("Guest: a piece of nothing is not taken for the end of a file",
          "[integration][guest][threads]") {
  HostileFixture f;
  const auto guest = f.greeted();
  const GuestPath path{"", "file"};
  const CallContext call;
  Result<Bytes> first = Error(ErrorCode::kInternal, "no answer");
  std::thread caller([&] {
    const auto file = base::sync_wait(f.loop, guest->read_file(path, {}, call)).value();
    first = base::sync_wait(f.loop, file.content->next(call));
  });
  const auto stream = f.agent.receive()->stream;
  f.agent.send(wire::FrameType::kEvent, stream, wire::encode_opened({{}, 3, ""}));
  f.agent.send(wire::FrameType::kData, stream, {});
  f.agent.send(wire::FrameType::kData, stream, Bytes(3));
  caller.join();
  CHECK(first.value().size() == 3);
}

TEST_CASE("Guest: output that is not as long as the answer says is refused",
          "[integration][guest][threads]") {
  HostileFixture f;
  const auto guest = f.greeted();
  const ExecSpec spec{.argv = {"true"}};
  Result<ExecResult> result = Error(ErrorCode::kInternal, "no answer");
  const CallContext call;
  std::thread caller([&] { result = base::sync_wait(f.loop, guest->run("", spec, call)); });
  const auto stream = f.agent.receive()->stream;
  f.agent.send(wire::FrameType::kData, stream, Bytes(10), wire::Channel::kOut);
  wire::ExecReply reply{.outcome = Exited{0}, .out = {11, 0, 11, 0}};
  f.agent.send(wire::FrameType::kResponse, stream, wire::encode_exec_reply(reply));
  caller.join();
  CHECK(result.error().code() == ErrorCode::kProvider);
}

TEST_CASE("connect_agent: an agent that says nothing is told with the remedy",
          "[integration][guest]") {
  HostileFixture f;
  f.clock.be_late();
  const auto connected = f.connect();
  CHECK(connected.error().code() == ErrorCode::kUnavailable);
  CHECK(connected.error().message() ==
        "the agent does not answer: it did not greet within 10 s; a stop of the sandbox ends it");
}

TEST_CASE("Guest: a command with a timeout ends though the agent says nothing any more",
          "[integration][guest][threads]") {
  const bool streamed = GENERATE(false, true);
  const bool started = GENERATE(false, true);
  CAPTURE(streamed, started);
  HostileFixture f;
  const auto guest = f.greeted();
  f.clock.be_late();
  const ExecSpec spec{.argv = {"true"}, .timeout = 10ms, .kill_grace = 10ms};
  const CallContext call;
  Result<ExecResult> result = Error(ErrorCode::kInternal, "no answer");
  const auto run = [&]() -> Result<ExecResult> {
    if (!streamed) return base::sync_wait(f.loop, guest->run("", spec, call));
    const auto process = base::sync_wait(f.loop, guest->start("", spec, false, call));
    if (!process) return process.error();
    const auto chunk = base::sync_wait(f.loop, (*process)->next_output(call));
    if (!chunk) return chunk.error();
    return base::sync_wait(f.loop, (*process)->wait(call));
  };
  std::thread caller([&] { result = run(); });
  const auto request = f.agent.receive();
  if (streamed && started) {
    f.agent.send(wire::FrameType::kEvent, request->stream, wire::encode_nothing());
  }
  const auto cancel = f.agent.receive();
  caller.join();
  REQUIRE(cancel);
  CHECK(cancel->type == wire::FrameType::kCancel);
  CHECK(result.error().code() == ErrorCode::kUnavailable);
  CHECK(result.error().message() ==
        "the agent does not answer: it did not say within 10 s that the command ended; a stop of "
        "the sandbox ends it");
}

TEST_CASE("Guest: a search that was told to end gives what it found, however slow its reader is",
          "[integration][guest][threads]") {
  HostileFixture f;
  const auto guest = f.greeted();
  wire::LinePacker packer;
  packer.begin("f", TextEncoding::kBytes);
  packer.add({.line = 1, .column = 1, .text = "match"});
  const Bytes batch = packer.take();
  std::thread caller([&] {
    const GuestPath path{"", "f"};
    const GrepQuery query{.pattern = "match"};
    const CallContext call;
    const auto found = base::sync_wait(f.loop, guest->grep(path, query, call)).value();
    const CallContext over{.deadline = f.clock.now()};
    CHECK(base::sync_wait(f.loop, found->next(over)).value().size() == 1);
    f.clock.pass(1min);
    CHECK(base::sync_wait(f.loop, found->next(over)).value().size() == 1);
    f.clock.pass(1min);
    CHECK(base::sync_wait(f.loop, found->next(over)).value().empty());
    CHECK(found->summary().matches == 2);
  });
  const auto stream = f.agent.receive()->stream;
  f.agent.send(wire::FrameType::kData, stream, batch);
  const auto cancel = f.agent.receive();
  f.agent.send(wire::FrameType::kData, stream, batch);
  f.agent.send(wire::FrameType::kResponse, stream,
               wire::encode_search_summary({.matches = 2, .problems = {}}));
  caller.join();
  REQUIRE(cancel);
  CHECK(cancel->type == wire::FrameType::kCancel);
}

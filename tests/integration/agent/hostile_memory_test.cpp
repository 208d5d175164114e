// Every kind of broken, endless, out of order and oversized frame against the host side, in a
// process that has 256 MiB of address space.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/raw/raw_wire.hpp"
#include "wire/cbor.hpp"
#include "wire/reply.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::RawWire;
using wire::Channel;
using wire::FrameType;

namespace {

constexpr rlim_t kAddressSpace = 256UL << 20;

/// What the agent's end has in hand when it attacks.
struct Attacker {
  RawWire& wire;
  std::uint32_t stream;
  std::atomic<bool>& over;

  void endless(FrameType type, const Bytes& payload, Channel channel = Channel::kMain) const {
    while (!over) wire.send(type, stream, payload, channel);
  }
};

struct Attack {
  const char* name;
  bool may_be_legal;  ///< where nothing in it breaks the protocol the call ends by its deadline
  std::function<void(const Attacker&)> run;
};

Bytes header(std::uint8_t type, std::uint8_t channel, std::uint16_t zero, std::uint32_t stream,
             std::uint32_t length) {
  Bytes bytes;
  for (const auto& [value, size] : {std::pair<std::uint32_t, int>{type, 1},
                                    {channel, 1},
                                    {zero, 2},
                                    {stream, 4},
                                    {length, 4}}) {
    for (int i = size - 1; i >= 0; --i) {
      bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFFU));
    }
  }
  return bytes;
}

void send_header(const Attacker& at, std::uint8_t type, std::uint8_t channel, std::uint16_t zero,
                 std::uint32_t length) {
  at.wire.send_bytes(header(type, channel, zero, at.stream, length));
}

Bytes nested(std::size_t depth) { return Bytes(depth, std::byte{0x81}); }

/// A CBOR map whose only key has no end.
Bytes indefinite() { return {std::byte{0xBF}, std::byte{0x61}, std::byte{'a'}, std::byte{0x9F}}; }

/// A byte string that says it is 2^62 bytes long.
Bytes boasting() {
  Bytes bytes{std::byte{0xA1}, std::byte{0x61}, std::byte{'a'}, std::byte{0x5B}, std::byte{0x40}};
  bytes.resize(bytes.size() + 7);
  return bytes;
}

std::vector<Attack> malformed_payloads() {
  std::vector<Attack> attacks;
  for (const FrameType type : {FrameType::kResponse, FrameType::kError}) {
    const auto add = [&](const char* name, const Bytes& payload) {
      attacks.push_back({name, false, [type, payload](const Attacker& at) {
                           at.wire.send(type, at.stream, payload);
                         }});
    };
    add("an answer of nothing", {});
    add("an answer that is nested deep", nested(60'000));
    add("an answer without an end", indefinite());
    add("an answer that boasts", boasting());
    add("an answer that is a number", {std::byte{7}});
    add("an answer with a tag", {std::byte{0xC1}, std::byte{7}});
  }
  return attacks;
}

std::vector<Attack> broken_frames() {
  std::vector<Attack> attacks{
      {"an unknown type", false, [](const Attacker& at) { send_header(at, 99, 0, 0, 0); }},
      {"an unknown channel", false, [](const Attacker& at) { send_header(at, 6, 77, 0, 1); }},
      {"reserved bits", false, [](const Attacker& at) { send_header(at, 6, 1, 5, 0); }},
      {"a control frame of 4 GiB", false,
       [](const Attacker& at) { send_header(at, 3, 0, 0, UINT32_MAX); }},
      {"a data frame of 1 GiB", false,
       [](const Attacker& at) { send_header(at, 6, 1, 0, 1U << 30); }},
      {"an optional frame of 1 MiB", false,
       [](const Attacker& at) { send_header(at, 200, 0, 0, 1U << 20); }},
      {"a second greeting", false,
       [](const Attacker& at) { at.wire.send(FrameType::kGreeting, 0, {}); }},
      {"a stream that is not open", false,
       [](const Attacker& at) { at.wire.send(FrameType::kEvent, at.stream + 1000, {}); }},
      {"credit of nothing", false,
       [](const Attacker& at) { at.wire.send(FrameType::kCredit, at.stream, Bytes(8)); }},
      {"half a credit", false,
       [](const Attacker& at) { at.wire.send(FrameType::kCredit, at.stream, Bytes(4)); }},
      {"an answer twice", false,
       [](const Attacker& at) {
         at.wire.send(FrameType::kResponse, at.stream,
                      wire::encode_cbor({{"epoch", "x"}, {"count", "x"}, {"offset", "x"}}));
         at.wire.send(FrameType::kResponse, at.stream, {});
       }},
  };
  for (const FrameType type :
       {FrameType::kRequest, FrameType::kCancel, FrameType::kEnd, FrameType::kCollected}) {
    attacks.push_back({"a host's frame", false,
                       [type](const Attacker& at) { at.wire.send(type, at.stream, Bytes(16)); }});
  }
  return attacks;
}

std::vector<Attack> endless_frames() {
  return {
      {"events without end", true,
       [](const Attacker& at) { at.endless(FrameType::kEvent, wire::encode_nothing()); }},
      {"credit without end", true,
       [](const Attacker& at) { at.endless(FrameType::kCredit, Bytes(8, std::byte{0xFF})); }},
      {"data of nothing without end", true,
       [](const Attacker& at) { at.endless(FrameType::kData, {}, Channel::kOut); }},
      {"data without end", true,
       [](const Attacker& at) { at.endless(FrameType::kData, Bytes(64 * 1024), Channel::kOut); }},
      {"crumbs without end", true,
       [](const Attacker& at) { at.endless(FrameType::kData, Bytes(1)); }},
      {"crumbs of two streams without end", true,
       [](const Attacker& at) {
         while (!at.over) {
           at.wire.send(FrameType::kData, at.stream, Bytes(1), Channel::kOut);
           at.wire.send(FrameType::kData, at.stream, Bytes(1), Channel::kErr);
         }
       }},
      {"half a frame", true,
       [](const Attacker& at) { at.wire.send_bytes(header(6, 1, 0, at.stream, 1000)); }},
      {"frames that may be skipped without end", true,
       [](const Attacker& at) {
         Bytes frame = header(200, 0, 0, at.stream, 60'000);
         frame.resize(frame.size() + 60'000);
         while (!at.over) at.wire.send_bytes(frame);
       }},
  };
}

using Call = std::function<ErrorCode(base::IoLoop&, Guest&, const CallContext&)>;

template <class T>
ErrorCode code_of(const Result<T>& result) {
  return result ? ErrorCode::kInternal : result.error().code();
}

std::vector<std::pair<const char*, Call>> calls() {
  const auto some_id = ProcessId(std::string(32, 'a'));
  return {
      {"status",
       [](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         return code_of(base::sync_wait(loop, guest.status(call)));
       }},
      {"run",
       [](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         ExecSpec spec{.argv = {"true"}};
         spec.output.head_bytes = spec.output.tail_bytes = wire::kMaxKeptBytes / 4;
         spec.kill_grace = 0ms;
         return code_of(base::sync_wait(loop, guest.run("", spec, call)));
       }},
      {"start",
       [](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         const ExecSpec spec{.argv = {"true"}};
         const auto process = base::sync_wait(loop, guest.start("", spec, true, call));
         return process ? code_of(base::sync_wait(loop, (*process)->wait(call)))
                        : process.error().code();
       }},
      {"start_process",
       [](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         const ExecSpec spec{.argv = {"true"}};
         return code_of(base::sync_wait(loop, guest.start_process("", spec, {}, call)));
       }},
      {"list_processes",
       [](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         return code_of(base::sync_wait(loop, guest.list_processes(call)));
       }},
      {"process_output",
       [some_id](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         return code_of(base::sync_wait(loop, guest.process_output(some_id, {}, call)));
       }},
      {"attach",
       [some_id](base::IoLoop& loop, Guest& guest, const CallContext& call) {
         const auto process = base::sync_wait(loop, guest.attach(some_id, {}, call));
         return process ? code_of(base::sync_wait(loop, (*process)->wait(call)))
                        : process.error().code();
       }},
  };
}

/// Runs one call against one attack; empty = it ended as it must.
std::string try_one(const std::string& name, const Call& call, const Attack& attack) {
  const guest::AgentIdentity identity{"d", "s", "g", 1};
  wire::Greeting greeting;
  greeting.deployment = "d";
  greeting.sandbox = "s";
  greeting.generation = "g";
  greeting.epoch = 1;
  base::SystemClock clock;
  base::SystemIds ids;
  base::IoLoop loop;
  test::SocketPair pair = test::make_socket_pair();
  RawWire agent(std::move(pair.first));
  agent.send(FrameType::kGreeting, 0, wire::encode_greeting(greeting));
  auto guest = base::sync_wait(
      loop, guest::connect_agent({loop, clock, ids}, std::move(pair.second), identity, {}));
  if (!guest) return name + ": " + guest.error().message();
  std::atomic<bool> over{false};
  std::thread attacker([&] {
    agent.receive();
    const auto request = agent.receive();
    if (request) attack.run(Attacker{agent, request->stream, over});
  });
  const CallContext patience{.deadline = clock.now() + (attack.may_be_legal ? 100ms : 20'000ms)};
  const ErrorCode code = call(loop, **guest, patience);
  over = true;
  guest->reset();
  // What is blocked in a send is let go by the closed socket.
  attacker.join();
  const bool fits =
      attack.may_be_legal ? code != ErrorCode::kInternal : code == ErrorCode::kProvider;
  return fits ? ""
              : name + " against " + attack.name + ": " + std::to_string(static_cast<int>(code));
}

}  // namespace

TEST_CASE("Guest: whatever an agent sends, every call ends with a provider error in 256 MiB",
          "[integration][guest][security]") {
  cove::test::ChildProcess child([](int output) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit limit{kAddressSpace, kAddressSpace};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("setrlimit");
#endif
    std::string wrong;
    for (const auto& attacks : {malformed_payloads(), broken_frames(), endless_frames()}) {
      for (const Attack& attack : attacks) {
        for (const auto& [name, call] : calls()) {
          // It waits 10 s for an agent to say that a command ended: once is enough.
          const std::string attacked = attack.name;
          if (name == std::string_view("run") && attack.may_be_legal &&
              attacked != "data without end" && attacked != "events without end") {
            continue;
          }
          const std::string said = try_one(name, call, attack);
          if (!said.empty()) wrong += said + "\n";
        }
      }
    }
    if (::write(output, wrong.data(), wrong.size()) < 0) throw std::runtime_error("write");
  });
  CHECK(child.wait() == "");
}

// What a hostile agent, or a hostile host, may send on streams that the agent opens.
#include <algorithm>
#include <optional>

#include <catch2/catch.hpp>

#include "network/proxy.hpp"
#include "support/fixtures/guest_streams.hpp"
#include "support/fixtures/proxy_fixture.hpp"
#include "support/raw/raw_wire.hpp"
#include "wire/cbor.hpp"
#include "wire/connect_request.hpp"
#include "wire/reply.hpp"

using namespace cove;
using test::bytes_of;
using test::RawWire;
using test::rule_for;
using test::TcpPeer;
using test::TcpServer;
using wire::FrameType;

namespace {

constexpr std::uint32_t kFirst = wire::kFirstAgentStream;

void echo(TcpPeer& client) {
  for (;;) {
    const std::string bytes = client.receive();
    if (bytes.empty() || !client.send(bytes)) break;
  }
  client.end();
}

/// A host that serves, and the agent's end of its connection in our hands.
struct ServingHost {
  explicit ServingHost(bool serves = true)
      : proxy(
            network::Proxy::open({loop, clock}, {{rule_for("127.0.0.1", server.port())}}).value()) {
    auto sockets = test::make_socket_pair();
    agent.emplace(std::move(sockets.second));
    agent->send(FrameType::kGreeting, 0, wire::encode_greeting(test::raw_greeting()));
    const guest::GuestRuntime runtime{loop, clock, ids, serves ? proxy.get() : nullptr};
    guest = base::sync_wait(loop, guest::connect_agent(runtime, std::move(sockets.first),
                                                       {"d", "s", "g", 1}, {}))
                .value();
    said = wire::parse_greeting(agent->receive()->payload).value().capabilities;
  }
  ~ServingHost() {
    guest.reset();
    base::sync_wait(loop, [](network::Proxy& mine) -> Task<int> {
      const CallContext call;
      static_cast<void>(co_await mine.close(call));
      co_return 0;
    }(*proxy));
  }

  Bytes connect_to(std::uint16_t port, std::uint64_t credit = 1000) const {
    return wire::encode_connect({{"127.0.0.1", port}, EgressVia::kConnect, credit});
  }
  Bytes connect() const { return connect_to(server.port()); }

  /// True where the host ended the connection.
  bool is_ended() {
    for (;;) {
      if (!agent->receive()) break;
    }
    return !guest::is_connected(*guest);
  }

  TcpServer server{echo};
  base::SystemClock clock;
  base::SystemIds ids;
  base::IoLoop loop;
  std::unique_ptr<network::Proxy> proxy;
  std::optional<RawWire> agent;
  std::shared_ptr<Guest> guest;
  std::vector<std::string> said;
};

}  // namespace

TEST_CASE("Agent's stream: opens, carries bytes both ways and ends well", "[integration][proxy]") {
  ServingHost f;
  CHECK(f.said == std::vector<std::string>{"proxy"});
  f.agent->send(FrameType::kRequest, kFirst, f.connect());
  CHECK(f.agent->receive()->type == FrameType::kEvent);
  f.agent->send(FrameType::kData, kFirst, bytes_of("hello"));
  const auto data = f.agent->receive();
  CHECK(data->type == FrameType::kData);
  CHECK(data->stream == kFirst);
  CHECK(data->payload.size() == 5);
  f.agent->send(FrameType::kEnd, kFirst, {});
  CHECK(f.agent->receive()->type == FrameType::kEnd);
  CHECK(f.agent->receive()->type == FrameType::kResponse);
  // Late frames of a stream that is over are no fault.
  f.agent->send(FrameType::kData, kFirst, bytes_of("late"));
  f.agent->send(FrameType::kCancel, kFirst, wire::encode_cancel({}));
  f.agent->send(FrameType::kRequest, kFirst + 1, f.connect_to(1));
  const auto refused = f.agent->receive();
  CHECK(refused->type == FrameType::kError);
  CHECK(wire::parse_error(refused->payload)->code() == ErrorCode::kPermissionDenied);
}

TEST_CASE("Agent's stream: the host sends within credit only", "[integration][proxy]") {
  ServingHost f;
  f.agent->send(FrameType::kRequest, kFirst, f.connect_to(f.server.port(), 3));
  f.agent->receive();
  f.agent->send(FrameType::kData, kFirst, bytes_of("abcdef"));
  CHECK(f.agent->receive()->payload.size() == 3);
  Bytes credit;
  wire::append_credit(credit, kFirst, 100);
  f.agent->send_bytes(credit);
  CHECK(f.agent->receive()->payload.size() == 3);
}

TEST_CASE("Agent's stream: a cancel ends it without a word", "[integration][proxy]") {
  ServingHost f;
  f.agent->send(FrameType::kRequest, kFirst, f.connect());
  f.agent->receive();
  f.agent->send(FrameType::kCancel, kFirst, wire::encode_cancel({}));
  f.agent->send(FrameType::kRequest, kFirst + 5, f.connect());
  const auto next = f.agent->receive();
  CHECK(next->type == FrameType::kEvent);
  CHECK(next->stream == kFirst + 5);
}

TEST_CASE("Agent's stream: what breaks its rules ends the connection", "[integration][proxy]") {
  ServingHost f;
  const auto opened = [&] {
    f.agent->send(FrameType::kRequest, kFirst + 10, f.connect());
    CHECK(f.agent->receive()->type == FrameType::kEvent);
  };
  SECTION("a number that was used before") {
    opened();
    f.agent->send(FrameType::kRequest, kFirst + 10, f.connect());
  }
  SECTION("a number below one that was used") {
    opened();
    f.agent->send(FrameType::kRequest, kFirst + 9, f.connect());
  }
  SECTION("a request that is none") { f.agent->send(FrameType::kRequest, kFirst, bytes_of("x")); }
  SECTION("a frame of a stream that never was") {
    f.agent->send(FrameType::kData, kFirst + 1, bytes_of("x"));
  }
  SECTION("data after its end") {
    opened();
    f.agent->send(FrameType::kEnd, kFirst + 10, {});
    f.agent->send(FrameType::kData, kFirst + 10, bytes_of("x"));
  }
  SECTION("data on another channel") {
    opened();
    f.agent->send(FrameType::kData, kFirst + 10, bytes_of("x"), wire::Channel::kErr);
  }
  SECTION("data past the credit") {
    f.agent->send(FrameType::kRequest, kFirst, f.connect());
    const Bytes much(wire::kAgentStreamCredit + 1);
    f.agent->send(FrameType::kData, kFirst, much);
  }
  SECTION("an end that is long") {
    opened();
    f.agent->send(FrameType::kEnd, kFirst + 10, bytes_of("x"));
  }
  SECTION("an answer to itself") {
    opened();
    f.agent->send(FrameType::kResponse, kFirst + 10, wire::encode_nothing());
  }
  SECTION("a credit that is none") {
    opened();
    f.agent->send(FrameType::kCredit, kFirst + 10, bytes_of("x"));
  }
  CHECK(f.is_ended());
}

TEST_CASE("Agent's stream: a host that does not serve takes one for a broken protocol",
          "[integration][proxy]") {
  ServingHost f(false);
  CHECK(f.said.empty());
  f.agent->send(FrameType::kRequest, kFirst, f.connect());
  CHECK(f.is_ended());
}

TEST_CASE("Agent's stream: one that asks on and reads nothing is let go of",
          "[integration][proxy][security][slow]") {
  ServingHost f;
  // Each is refused at once; its number only grows.
  constexpr std::uint32_t kAtOnce = 1000;
  for (std::uint32_t next = kFirst; next < kFirst + 1'000'000; next += kAtOnce) {
    if (!guest::is_connected(*f.guest)) break;
    Bytes requests;
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      wire::append_frame(requests, FrameType::kRequest, wire::Channel::kMain, next + i,
                         wire::encode_cbor({{"kind", 9}}));
    }
    f.agent->send_bytes(requests);
  }
  CHECK_FALSE(guest::is_connected(*f.guest));
}

TEST_CASE("Agent's stream: of a kind that is not known, and over the limit, it is refused",
          "[integration][proxy]") {
  ServingHost f;
  f.agent->send(FrameType::kRequest, kFirst, wire::encode_cbor({{"kind", 9}}));
  CHECK(wire::parse_error(f.agent->receive()->payload)->code() == ErrorCode::kUnsupported);
  std::size_t refused = 0;
  for (std::uint32_t i = 1; i <= wire::kMaxAgentStreams + 20; ++i) {
    f.agent->send(FrameType::kRequest, kFirst + i, f.connect());
    const auto answer = f.agent->receive();
    if (answer->type == FrameType::kError) ++refused;
  }
  // 128 of one sandbox at once is the proxy's own limit.
  CHECK(refused == wire::kMaxAgentStreams + 20 - 128);
  CHECK(guest::is_connected(*f.guest));
}

TEST_CASE("Agent: a host that breaks the rules of its streams is let go of",
          "[integration][proxy]") {
  wire::AgentBoot boot;
  boot.proxy = true;
  test::AgentFixture agent(std::move(boot));
  RawWire host(agent.agent.connect());
  auto theirs = wire::parse_greeting(host.receive()->payload).value();
  CHECK(std::count(theirs.capabilities.begin(), theirs.capabilities.end(), "proxy") == 1);
  theirs.capabilities = {"proxy"};
  host.send(FrameType::kGreeting, 0, wire::encode_greeting(theirs));
  wire::Request status;
  status.body = wire::StatusRequest{};
  host.request(1, status);
  host.receive_answer(1);
  const auto url = agent.shell("printf %s $http_proxy");
  const auto port = std::stoi(url.value().out.text().substr(17));
  TcpPeer client = TcpPeer::connect(static_cast<std::uint16_t>(port));
  client.send("CONNECT a.test:1 HTTP/1.1\r\n\r\n");
  const auto asked = host.receive();
  REQUIRE(asked);
  REQUIRE(asked->type == FrameType::kRequest);
  CHECK(asked->stream == kFirst);
  CHECK(wire::parse_connect(asked->payload).value().target == EgressTarget{"a.test", 1});
  SECTION("data before it is open") { host.send(FrameType::kData, kFirst, bytes_of("x")); }
  SECTION("data past the credit") {
    host.send(FrameType::kEvent, kFirst, wire::encode_nothing());
    const Bytes much(200 * 1024);
    host.send(FrameType::kData, kFirst, much);
  }
  SECTION("a request with a number that is the agent's") {
    wire::Request request;
    request.body = wire::StatusRequest{};
    host.request(kFirst + 1, request);
  }
  while (host.receive()) {
  }
  // The agent goes on, and its client is told.
  static_cast<void>(client.receive_to_end());
  TcpPeer next = TcpPeer::connect(static_cast<std::uint16_t>(port));
  next.send("CONNECT a.test:1 HTTP/1.1\r\n\r\n");
  CHECK_THAT(next.receive_head(), Catch::StartsWith("HTTP/1.1 503 "));
}

/// What an agent asks of a host: a connection to the outside, for a client inside. It opens a
/// stream of the agent's own; docs/wire-protocol.md, "Streams of the agent".
#pragma once

#include <cstdint>
#include <string>

#include <cove/bytes.hpp>
#include <cove/egress.hpp>
#include <cove/result.hpp>

namespace cove::wire {

/// The capability, in both greetings: the agent has a proxy inside; the host serves its streams.
constexpr const char* kProxyCapability = "proxy";

/// Numbers of streams that an agent opens begin here, and only grow over a connection's life.
constexpr std::uint32_t kFirstAgentStream = 0x80000000;

/// What an agent may send on a stream of its own before the first credit frame.
constexpr std::uint64_t kAgentStreamCredit = 64 * 1024;

/// How many streams an agent may have open on one connection; further ones are refused.
constexpr std::size_t kMaxAgentStreams = 256;

struct ConnectRequest {
  EgressTarget target;  ///< as the client inside gave it: printable ASCII, at most 255 bytes
  EgressVia via = EgressVia::kConnect;
  std::uint64_t credit = 0;  ///< what the host may send before the first credit frame
};

/// REQUIRES: the target's host is as said above.
Bytes encode_connect(const ConnectRequest& request);

/// kIntegrity: malformed; kUnsupported: a kind that this build does not know.
Result<ConnectRequest> parse_connect(ByteView payload);

}  // namespace cove::wire

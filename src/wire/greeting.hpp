/// The first frame of each side: who speaks, and which versions it understands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

namespace cove::wire {

/// Versions that this build understands. A version only adds: a side ignores fields that it does
/// not know, and asks the other's `capabilities` before it uses what is newer.
constexpr std::uint32_t kMinVersion = 1;
constexpr std::uint32_t kMaxVersion = 1;

/// The agent sends it when a connection is accepted, the host when it has read the agent's. The
/// host's says whom it means to reach; the agent refuses a host that means another.
struct Greeting {
  std::uint32_t min_version = kMinVersion;
  std::uint32_t max_version = kMaxVersion;
  std::string build_id;
  std::vector<std::string> capabilities;
  std::string deployment;
  std::string sandbox;
  std::string generation;
  std::uint64_t epoch = 0;
  std::string auth = "none";  ///< the step that follows; "none" on a private socket
};

Bytes encode_greeting(const Greeting& greeting);

/// kIntegrity: not a greeting.
Result<Greeting> parse_greeting(ByteView payload);

/// The highest version of both. kUnsupported: there is none; names both ranges.
Result<std::uint32_t> common_version(const Greeting& ours, const Greeting& theirs);

/// Checks that `theirs` names the same instance. kIntegrity: another deployment, sandbox or
/// generation; kConflict: another epoch.
Result<void> check_identity(const Greeting& expected, const Greeting& theirs);

}  // namespace cove::wire

/// AgentGuest: the host's end of the wire to a cove-agent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <cove/clock.hpp>
#include <cove/egress.hpp>
#include <cove/guest.hpp>
#include <cove/id_source.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::base {
class IoLoop;
}

namespace cove::guest {

/// Whom the connection must reach.
struct AgentIdentity {
  std::string deployment;
  std::string sandbox;
  std::string generation;
  std::uint64_t epoch = 0;
};

/// How an agent is reached once more; see Lane. Called from any thread, while the guest is there.
struct AnotherWay {
  std::function<Result<base::UniqueFd>()> dial;  ///< a new connection; null: there is none
  std::function<bool()> is_current;  ///< whether its instance is still whole; null: who knows
};

/// What a guest works with. Borrowed: all outlive it.
struct GuestRuntime {
  base::IoLoop& loop;
  const Clock& clock;
  IdSource& ids;

  /// Serves the connections that the agent's proxy asks for; null: none is served.
  Egress* egress = nullptr;
  AnotherWay again{};
};

/// Takes a connected stream socket, exchanges greetings and gives a guest that is shared by all of
/// this process's calls. Every byte of the other side is hostile. Errors: kUnavailable - closed, or
/// no greeting in time; kConflict - another epoch answers; kIntegrity - another deployment, sandbox
/// or generation; kProvider - no agent at all, and later every call of a connection whose agent
/// broke the protocol; kUnsupported - no protocol version in common.
Task<Result<std::shared_ptr<Guest>>> connect_agent(GuestRuntime runtime, base::UniqueFd socket,
                                                   AgentIdentity identity, const CallContext& call);

/// True while the connection behind a guest made here is up; a guest whose connection ended answers
/// kUnavailable to everything.
bool is_connected(const Guest& guest);

}  // namespace cove::guest

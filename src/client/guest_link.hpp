/// GuestLink: how a client reaches the guest of its workspace. The runtime implements it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <cove/guest.hpp>
#include <cove/sandbox_client.hpp>

#include "client/call_gate.hpp"

namespace cove::client {

/// A connection to the guest that one blocking call has for itself, on its caller's thread, which
/// must wait anyway. Destroyed, it is given back.
class Lane {
 public:
  virtual ~Lane() = default;
  virtual Guest& guest() = 0;

  /// Runs a task that uses this guest alone, until it is done.
  virtual void run(Task<void> task) = 0;

  /// Tells how the exchange ended, as GuestLink::note_error.
  virtual void note_error(const Error& error) = 0;
};

/// A gate whose calls go to one workspace. `guest` and the notes are used on the scheduler.
class GuestLink : public CallGate {
 public:
  /// Gives a guest that was just known to answer, and counts as activity. Where this process's
  /// lease lapsed or the connection is dead, the workspace is acquired again first.
  virtual Task<Result<std::shared_ptr<Guest>>> guest(const CallContext& call) = 0;

  /// A lane, where the guest was just reached by a call of this link and nothing is to be looked at
  /// before the next; null: the call goes by `guest`. Any thread but the scheduler's, inside an
  /// admitted call.
  virtual std::unique_ptr<Lane> lane(const CallContext& /*call*/) { return nullptr; }

  /// Variables that every command gets below its own. Any thread; never changes.
  virtual const std::map<std::string, std::string>& environment() const = 0;

  /// Tells how an exchange with the guest ended.
  virtual void note_answer() = 0;
  virtual void note_error(const Error& error) = 0;
};

/// A client of one session: `session` as in GuestPath.
SandboxClient make_client(std::shared_ptr<GuestLink> link, std::string session);

}  // namespace cove::client

/// From a key to a guest that answers: the main flow of an acquire, also run again by a call whose
/// workspace lapsed. On the scheduler, inside an admitted call; references outlive the task.
#pragma once

#include <memory>
#include <string>

#include <cove/cove.hpp>

#include "runtime/core.hpp"
#include "runtime/use/seat.hpp"

namespace cove::runtime {

/// Whose workspace, and which session of it ("sessions/c1", or empty for /workspace itself).
struct Place {
  WorkspaceKey key;
  std::string session;
};

struct BroughtUp {
  std::shared_ptr<Guest> guest;
  AcquireWork work = AcquireWork::kNone;
};

/// Makes the sandbox run, reaches its guest and makes the session's directory.
/// Errors: as LifecycleManager::acquire; kUnavailable - it runs, but its guest does not answer.
Task<Result<BroughtUp>> bring_up(Core& core, Seat& seat, const Place& place,
                                 const CallContext& call);

/// The guest of a workspace that was brought up before; brings it up again where its lease lapsed
/// or its guest is gone. kNotFound: the sandbox was destroyed meanwhile.
Task<Result<std::shared_ptr<Guest>>> keep_up(Core& core, Seat& seat, const Place& place,
                                             const CallContext& call);

}  // namespace cove::runtime

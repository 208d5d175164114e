/// From a key to a guest that answers: the main flow of an acquire, also run again by a call whose
/// workspace lapsed. On the scheduler, inside an admitted call; references outlive the task.
#pragma once

#include <memory>
#include <string>

#include <cove/cove.hpp>

#include "runtime/core.hpp"
#include "runtime/use/preparing.hpp"
#include "runtime/use/seat.hpp"

namespace cove::runtime {

/// Whose workspace, which session of it ("sessions/c1", or empty for /workspace itself), and what
/// it is prepared with.
struct Place {
  WorkspaceKey key;
  std::string session;
  std::shared_ptr<Preparing> preparing;
};

struct BroughtUp {
  std::shared_ptr<Guest> guest;
  AcquireWork work = AcquireWork::kNone;
};

/// What was known of the seat's guest may not hold any more: the next use asks it, and nobody's
/// descriptors are kept for it.
void doubt(Core& core, Seat& seat);

/// Makes the sandbox run, reaches its guest and prepares it.
/// Errors: as LifecycleManager::acquire; kUnavailable - it runs, but its guest does not answer;
/// that of a required step.
Task<Result<BroughtUp>> bring_up(Core& core, Seat& seat, const Place& place,
                                 const CallContext& call);

/// The guest of a workspace that was brought up before; brings it up again where its lease lapsed
/// or its guest is gone, and prepares it again where it is another instance. kNotFound: the sandbox
/// was destroyed meanwhile.
Task<Result<std::shared_ptr<Guest>>> keep_up(Core& core, Seat& seat, const Place& place,
                                             const CallContext& call);

}  // namespace cove::runtime

/// Bringing a sandbox to rest: stopped, archived, gone.
#pragma once

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

enum class Goal : std::uint8_t { kStopped, kArchived, kGone };

struct Request {
  Goal goal = Goal::kStopped;
  StopOptions options;
  Reason reason = Reason::kAsked;
};

/// See LifecycleManager::stop, archive and destroy.
Task<Result<void>> settle(std::shared_ptr<Core> core, SandboxId sandbox, Request request,
                          const CallContext& call);

/// See LifecycleManager::report_unreachable. `reason`: a call that failed, or the sweep.
Task<Result<bool>> report_unreachable(std::shared_ptr<Core> core, InstanceRef instance,
                                      Reason reason, const CallContext& call);

/// Gives up a resume, restore or relocate that can be, whose holder is dead, and what it made.
Task<Result<void>> abandon_start(Core& core, StoredRecord at, Reason reason,
                                 const CallContext& call);

}  // namespace cove::lifecycle

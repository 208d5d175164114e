/// Bringing a sandbox up, from whatever it is in.
#pragma once

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// See LifecycleManager::acquire.
Task<Result<AcquiredInstance>> acquire(std::shared_ptr<Core> core, WorkspaceKey key,
                                       SandboxId sandbox, const CallContext& call);

}  // namespace cove::lifecycle

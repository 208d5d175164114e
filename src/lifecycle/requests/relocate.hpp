/// Moving a sandbox to another provider.
#pragma once

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// See LifecycleManager::relocate.
Task<Result<void>> relocate(std::shared_ptr<Core> core, SandboxId sandbox, RelocateOptions options,
                            const CallContext& call);

}  // namespace cove::lifecycle

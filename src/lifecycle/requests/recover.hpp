/// Making records again from what is in the object store and on this node.
#pragma once

#include <memory>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// See LifecycleManager::recover.
Task<Result<RecoverReport>> recover(std::shared_ptr<Core> core, DeploymentId deployment,
                                    const CallContext& call);

}  // namespace cove::lifecycle

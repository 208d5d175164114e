/// What there is and what was done, as numbers.
#pragma once

#include <memory>
#include <string>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// See LifecycleManager::metrics.
Task<Result<std::string>> metrics_text(std::shared_ptr<Core> core, const CallContext& call);

}  // namespace cove::lifecycle

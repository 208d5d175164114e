/// What goes on without anybody asking: rest for what is idle, an end for what others began.
#pragma once

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// See LifecycleManager::sweep.
Task<Result<SweepReport>> sweep(std::shared_ptr<Core> core, SweepOptions options,
                                const CallContext& call);

/// See LifecycleManager::orphans.
Task<Result<OrphanReport>> find_orphans(std::shared_ptr<Core> core, const CallContext& call);

/// Ends the instances that nothing names; they have nothing of their own. Returns how many.
Task<Result<std::uint32_t>> stop_orphans(std::shared_ptr<Core> core, const CallContext& call);

/// Finds records of this node that say running while the provider has no such instance (a reboot, a
/// killed agent) and asks it about each: where it says gone, the record becomes stopped. Returns
/// how many did.
Task<Result<std::uint32_t>> settle_lost(std::shared_ptr<Core> core, const CallContext& call);

}  // namespace cove::lifecycle

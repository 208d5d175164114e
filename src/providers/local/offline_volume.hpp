/// A volume opened while nothing runs on it.
#pragma once

#include <memory>

#include <cove/provider.hpp>
#include <cove/result.hpp>
#include <cove/scheduler.hpp>

#include "base/async/worker_pool.hpp"
#include "providers/local/volume/volumes.hpp"

namespace cove::local {

/// Borrowed: all outlive what is opened.
struct OfflineTools {
  const Volumes& volumes;
  base::BlockingExecutor& executor;
  Scheduler& scheduler;
};

/// Null: another call works on the volume; again soon. Errors: kFailedPrecondition - an instance
/// runs on it, or it is open; kIntegrity. Blocks on the disk.
Result<std::unique_ptr<OfflineVolume>> try_open_offline(const OfflineTools& tools,
                                                        const VolumeRef& volume);

}  // namespace cove::local

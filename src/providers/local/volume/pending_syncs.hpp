/// New volumes on their way to the disk while other work goes on.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/provider.hpp>
#include <cove/result.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/worker_pool.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::local {

/// What was made and not synced yet, by volume. All members on the scheduler's own thread; the
/// executor is to be done with its work before the scheduler goes.
class PendingSyncs {
 public:
  PendingSyncs(base::BlockingExecutor& executor, Scheduler& scheduler)
      : executor_(executor), scheduler_(scheduler) {}

  /// fsync of each, in one piece of work: the first takes the others of its journal with it.
  void begin(const VolumeRef& volume, std::vector<base::UniqueFd> files);

  /// Returns when all that was begun for the volume is on the disk, with the first error of any:
  /// then also every later wait has it, until the volume is begun again or forgotten. kTimeout and
  /// kCancelled where the call ends before.
  Task<Result<void>> wait(const VolumeRef& volume, const CallContext& call);

  void forget(const VolumeRef& volume) { syncs_.erase(volume); }

 private:
  struct Sync;

  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
  std::map<VolumeRef, std::shared_ptr<Sync>> syncs_;
};

}  // namespace cove::local

/// Several files and directories on the disk with one wait instead of one after the other.
#pragma once

#include <vector>

#include <cove/result.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/worker_pool.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::local {

/// fsync of each, side by side; returns when all have ended. The first error of any.
Task<Result<void>> sync_together(base::BlockingExecutor& executor, Scheduler& scheduler,
                                 std::vector<base::UniqueFd> files);

}  // namespace cove::local

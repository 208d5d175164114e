/// Waiting for a time, without a thread.
#pragma once

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

namespace cove::base {

/// Returns at `when`; earlier with kTimeout or kCancelled where the call ends before.
Task<Result<void>> sleep_until(Scheduler& scheduler, Instant when, const CallContext& call);

}  // namespace cove::base

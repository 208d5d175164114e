/// Taking an operation by compare-and-swap: from then on it is this process's to perform.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lifecycle/operations/job.hpp"

namespace cove::lifecycle {

/// Makes of a record what it is with an operation of this attempt.
using Taking = std::function<Result<Record>(const Record& record, const Attempt& attempt)>;

/// How a job takes its operation.
struct Intent {
  Drain drain = Drain::kIdle;
  LeaseRule leases = LeaseRule::kAll;
  bool takes_lease = false;
  std::chrono::milliseconds drain_for{0};  ///< of a stop: how long what runs may take to finish
  Reason reason = Reason::kAsked;
  std::string provider{};  ///< where a volume is to be made; empty = where the record says
};

/// Swaps an operation in. Null: somebody else was faster, decide again. Errors: what `taking`
/// refuses; the store's; kTimeout and kCancelled where the caller's call ended before the store
/// answered. What the store is asked for is asked to the end: where nobody waits for it any more,
/// the operation is performed all the same, since a claim that nobody works on keeps everybody
/// waiting until its heartbeat is old.
Task<Result<std::shared_ptr<Job>>> take(std::shared_ptr<Core> core,
                                        std::shared_ptr<Gates::Hold> hold, StoredRecord at,
                                        Taking taking, Intent intent, const CallContext& call);

/// The same for a sandbox that has no record yet.
Task<Result<std::shared_ptr<Job>>> take_first(std::shared_ptr<Core> core,
                                              std::shared_ptr<Gates::Hold> hold, WorkspaceKey key,
                                              SandboxId sandbox, Intent intent,
                                              const CallContext& call);

}  // namespace cove::lifecycle

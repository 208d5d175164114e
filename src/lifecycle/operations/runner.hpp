/// The generic runner: takes an operation by compare-and-swap and performs it phase by phase.
///
/// For each phase: read again whether the operation is still this job's, do the step (heartbeats go
/// on meanwhile), swap the next phase in. Nothing else of this process writes the record's
/// operation meanwhile: heartbeats end before the swap. A swap that fails by version is read and
/// decided again; one whose answer was lost is recognised by reading.
#pragma once

#include <functional>
#include <memory>

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
/// refuses; the store's.
Task<Result<std::shared_ptr<Job>>> take(std::shared_ptr<Core> core,
                                        std::shared_ptr<Gates::Hold> hold, StoredRecord at,
                                        Taking taking, Intent intent, const CallContext& call);

/// The same for a sandbox that has no record yet.
Task<Result<std::shared_ptr<Job>>> take_first(std::shared_ptr<Core> core,
                                              std::shared_ptr<Gates::Hold> hold, WorkspaceKey key,
                                              SandboxId sandbox, Intent intent,
                                              const CallContext& call);

/// How a job ended without an error of its own.
enum class Driven : std::uint8_t {
  kCompleted,  ///< the operation did; job.at is the record after it
  kLost,       ///< somebody took it over: read and decide again
  kYielded,    ///< given up for somebody more urgent
};

/// Performs the operation to its end, beside its caller, who waits as long as its own call allows:
/// work that was begun is worth finishing, and the next caller finds it done. An error is that of
/// the attempt, and is noted in the record.
Task<Result<Driven>> perform(std::shared_ptr<Job> job, const CallContext& call);

}  // namespace cove::lifecycle

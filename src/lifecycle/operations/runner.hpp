/// The generic runner: performs an operation that was taken, phase by phase.
///
/// For each phase: read again whether the operation is still this job's, do the step (heartbeats go
/// on meanwhile), swap the next phase in. Nothing else of this process writes the record's
/// operation meanwhile: heartbeats end before the swap. A swap that fails by version is read and
/// decided again; one whose answer was lost is recognised by reading.
#pragma once

#include <memory>

#include "lifecycle/operations/job.hpp"

namespace cove::lifecycle {

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

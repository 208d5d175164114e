/// What each phase of each operation does to the world outside the record.
#pragma once

#include "lifecycle/operations/job.hpp"

namespace cove::lifecycle {

/// What a step gives to the swap that follows it.
struct StepOutcome {
  std::optional<SnapshotRef> snapshot;  ///< of an archive's upload, verified
};

/// Does the work that leads from the present phase to the next one. It may be repeated, also by
/// another process and from the start, and ends in the same state.
Task<Result<StepOutcome>> run_step(Job& job, const CallContext& call);

/// Ends and removes what a failed attempt may have left; what it cannot remove now stays named by
/// the garbage list. `failed` is the record from before the failure was noted.
Task<void> clean_up(Core& core, Record failed, const CallContext& call);

}  // namespace cove::lifecycle

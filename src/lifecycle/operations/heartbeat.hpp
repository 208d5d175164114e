/// Says during a step that its holder is there, and notices when the operation is taken away.
#pragma once

#include <memory>
#include <optional>

#include "lifecycle/operations/job.hpp"

namespace cove::lifecycle {

/// True where the record is there and its operation is `id`.
bool is_held(const std::optional<StoredRecord>& found, const OperationId& id);

struct Heartbeats;

/// Begins to write heartbeats for the job, and to look whether it is still the holder: when it is
/// not, `job.lost` is set and its step told to end. Nobody else swaps the record for this job until
/// stop_heartbeats has returned.
std::shared_ptr<Heartbeats> start_heartbeats(std::shared_ptr<Job> job);

/// Ends them; returns when the last one is written or given up.
Task<void> stop_heartbeats(std::shared_ptr<Heartbeats> beats);

}  // namespace cove::lifecycle

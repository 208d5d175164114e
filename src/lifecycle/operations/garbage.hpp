/// Deleting what records and tombstones name as garbage.
#pragma once

#include <cstdint>
#include <memory>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

inline Location place_of(const GarbageVolume& volume) { return {volume.provider, volume.node}; }

/// Ends what runs on a garbage volume and deletes it. REQUIRES: its place is within reach.
Task<Result<void>> delete_volume(Core& core, SandboxId sandbox, GarbageVolume volume,
                                 const CallContext& call);

/// Deletes what is on a record's garbage list and within reach of this node, and takes it off.
/// Returns how much it was; the first error where something could not be deleted. Safe beside any
/// operation: what is on the list is never used again.
Task<Result<std::uint32_t>> collect_garbage(Core& core, SandboxId sandbox, const CallContext& call);

/// The same beside its caller, who does not wait for deletions.
void collect_garbage_soon(const std::shared_ptr<Core>& core, const SandboxId& sandbox);

/// Sweeps once more what the graves of a tombstone name, where they are due.
Task<Result<std::uint32_t>> sweep_tombstone(Core& core, SandboxId sandbox, const CallContext& call);

}  // namespace cove::lifecycle

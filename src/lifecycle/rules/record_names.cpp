// The stable names of states, operations and phases, as records, logs and documents show them.
#include <cove/record.hpp>

namespace cove {

std::string_view name_of(SandboxState state) noexcept {
  switch (state) {
    case SandboxState::kAbsent: return "absent";
    case SandboxState::kRunning: return "running";
    case SandboxState::kStopped: return "stopped";
    case SandboxState::kArchived: return "archived";
  }
  return "unknown";
}

std::string_view name_of(OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::kProvision: return "provision";
    case OperationKind::kResume: return "resume";
    case OperationKind::kStop: return "stop";
    case OperationKind::kArchive: return "archive";
    case OperationKind::kRestore: return "restore";
    case OperationKind::kDestroy: return "destroy";
    case OperationKind::kRelocate: return "relocate";
    case OperationKind::kLost: return "lost";
  }
  return "unknown";
}

std::string_view name_of(Phase phase) noexcept {
  switch (phase) {
    case Phase::kClaimed: return "claimed";
    case Phase::kVolumeCreated: return "volume_created";
    case Phase::kSnapshotRestored: return "snapshot_restored";
    case Phase::kInstanceStarted: return "instance_started";
    case Phase::kDrained: return "drained";
    case Phase::kInstanceStopped: return "instance_stopped";
    case Phase::kArchiveUploaded: return "archive_uploaded";
    case Phase::kProviderDeleted: return "provider_deleted";
    case Phase::kVolumeDeleted: return "volume_deleted";
    case Phase::kArchiveDeleted: return "archive_deleted";
  }
  return "unknown";
}

}  // namespace cove

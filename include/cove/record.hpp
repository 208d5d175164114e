/// The record of one sandbox: the only truth about its lifecycle, kept in the metadata store.
///
/// docs/lifecycle.md explains the states and operations; docs/formats.md has the JSON form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <cove/ids.hpp>
#include <cove/snapshot.hpp>
#include <cove/workspace_key.hpp>

namespace cove {

/// Where a sandbox is between its operations.
enum class SandboxState : std::uint8_t {
  kAbsent,    ///< only beside a provision or destroy operation
  kRunning,   ///< an instance of `epoch` runs on the volume `generation`
  kStopped,   ///< the volume is there, nothing runs
  kArchived,  ///< only the snapshot is there
};

/// What an operation does to a sandbox.
enum class OperationKind : std::uint8_t {
  kProvision,
  kResume,
  kStop,
  kArchive,
  kRestore,
  kDestroy,
  kRelocate,
  kLost,  ///< never in a record: what an event calls the one swap of an instance that is gone
};

/// A phase is written when its work is done: `kVolumeCreated` = the volume is there.
enum class Phase : std::uint8_t {
  kClaimed,
  kVolumeCreated,
  kSnapshotRestored,
  kInstanceStarted,
  kDrained,
  kInstanceStopped,
  kArchiveUploaded,
  kProviderDeleted,
  kVolumeDeleted,
  kArchiveDeleted,
};

std::string_view name_of(SandboxState state) noexcept;  ///< "running"
std::string_view name_of(OperationKind kind) noexcept;  ///< "archive"
std::string_view name_of(Phase phase) noexcept;         ///< "archive_uploaded"

/// Where volumes are made: a provider, and the node from which it can be reached.
struct Location {
  std::string provider;  ///< Provider::name()
  NodeId node;

  friend bool operator==(const Location&, const Location&) = default;
};

/// What somebody does to a sandbox now; at most one, and holding it is the lifecycle lease.
struct Operation {
  OperationId id;  ///< new at every claim and take-over: who holds another id has lost it
  OperationKind kind = OperationKind::kProvision;
  Phase phase = Phase::kClaimed;
  OwnerId owner;
  std::uint32_t attempt = 1;
  StoreTime started_at{};
  StoreTime heartbeat_at{};
  StoreTime
      drain_until{};      ///< of a stop: until then what runs may finish, and nobody takes it back
  Generation generation;  ///< the volume that this attempt makes (provision, restore, relocate)
  Epoch epoch{};  ///< the start that this attempt makes (provision, resume, restore); else 0
  std::optional<Location>
      to;  ///< of a relocate, until its old volume is gone: where the new one will be
  std::optional<SnapshotRef> snapshot;  ///< of an archive, from its upload on; of a relocate until
                                        ///< its old volume is gone
  std::string error;                    ///< of the last failed attempt; empty = none
};

/// One host process that uses the sandbox; while it is live, nobody stops or archives it.
struct ActivityLease {
  OwnerId owner;
  StoreTime expires_at{};
};

/// What was replaced and must still be deleted. Only what stands here, or in a tombstone, is
/// deleted.
struct GarbageVolume {
  NodeId node;
  Generation generation;
  Epoch epoch{};           ///< instances of this epoch and older ones are ended first
  std::string provider{};  ///< whose it is; empty = of the deployment's usual one (old tombstones)

  friend bool operator==(const GarbageVolume&, const GarbageVolume&) = default;
};
/// A snapshot that is to be deleted.
struct GarbageSnapshot {
  SnapshotRef snapshot;

  friend bool operator==(const GarbageSnapshot&, const GarbageSnapshot&) = default;
};
/// What an archive that did not end may have left.
struct GarbageAttempt {
  OperationId attempt;  ///< whatever an archive of this id uploaded

  friend bool operator==(const GarbageAttempt&, const GarbageAttempt&) = default;
};
/// One thing that is to be deleted.
using Garbage = std::variant<GarbageVolume, GarbageSnapshot, GarbageAttempt>;

/// All that is known of one sandbox.
struct Record {
  SandboxId sandbox_id;
  WorkspaceKey key;
  SandboxState state = SandboxState::kAbsent;
  std::string provider;  ///< Provider::name()
  NodeId node;
  Incarnation incarnation;
  Generation generation;                ///< of the current volume; empty where there is none
  Epoch epoch{};                        ///< of the newest start
  std::optional<SnapshotRef> snapshot;  ///< the newest verified one; always set where archived
  StoreTime created_at{};
  StoreTime last_active_at{};
  std::vector<ActivityLease> activity;
  std::vector<Garbage> garbage;
  std::optional<Operation> operation;
  std::uint32_t failures = 0;   ///< of operations, one after another, without a success between
  StoreTime failed_at{};        ///< when the newest of them failed; 1970 = none
  std::string needs_attention;  ///< why a person should look; empty = nothing
};

/// The record's JSON form and back. parse_record: kIntegrity - not a record of a version known
/// here.
std::string to_json(const Record& record);
Result<Record> parse_record(std::string_view json);

}  // namespace cove

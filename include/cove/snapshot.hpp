/// Snapshots: a workspace kept in the object store, whole and checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cove/clock.hpp>
#include <cove/ids.hpp>
#include <cove/provider.hpp>
#include <cove/task.hpp>
#include <cove/workspace_key.hpp>

namespace cove {

/// One object that a snapshot is made of, as it must come back.
struct SnapshotObject {
  ObjectKey key;
  std::uint64_t size = 0;  ///< bytes
  std::string sha256;      ///< 64 hex of the stored bytes

  friend bool operator==(const SnapshotObject&, const SnapshotObject&) = default;
};

/// A snapshot as the record keeps it.
struct SnapshotRef {
  std::uint32_t format = 1;  ///< 1 = the workspace, 2 = HOME too; see docs/formats.md
  std::vector<SnapshotObject> objects;
  std::uint64_t entries = 0;        ///< files, directories and links
  std::uint64_t content_bytes = 0;  ///< of regular files, uncompressed

  friend bool operator==(const SnapshotRef&, const SnapshotRef&) = default;
};

/// Whose snapshot, and where its objects go: `cove/v1/<deployment>/<sandbox>/<incarnation>/...`.
struct SnapshotOwner {
  DeploymentId deployment;
  SandboxId sandbox;
  Incarnation incarnation;
  WorkspaceKey key;
  StoreTime saved_at{};  ///< of a save: kept in the manifest, so that the newest can be told
};

/// A snapshot as the object store alone shows it.
struct FoundSnapshot {
  SnapshotOwner owner;  ///< where the manifest is damaged what its place says: its key is empty
  OperationId attempt;
  SnapshotRef snapshot;
  std::string problem;  ///< empty = its objects are there, each of its size
};

/// Some of the snapshots in the object store.
struct FoundSnapshots {
  std::vector<FoundSnapshot> found;
  std::string next;  ///< for `after`; empty = this was the last page
};

/// Makes, checks and restores snapshots. Calls are made on Cove's scheduler and complete there;
/// memory is bounded whatever the workspace's size.
class Snapshotter {
 public:
  virtual ~Snapshotter() = default;

  /// Stores the workspace under names of its own (`attempt` is in them), and returns when every
  /// object is durable. What an attempt that failed left behind lies under the same attempt's
  /// prefix.
  virtual Task<Result<SnapshotRef>> save(OfflineVolume& volume, const SnapshotOwner& owner,
                                         const OperationId& attempt, const CallContext& call) = 0;

  /// Reads every object back and compares size and checksum, and that the archive ends as it must.
  /// Errors: kIntegrity - names the object and what is wrong with it; kUnavailable.
  virtual Task<Result<void>> verify(const SnapshotRef& snapshot, const CallContext& call) = 0;

  /// Writes a snapshot into an empty volume, complete and synced when it returns. The bytes are
  /// verified before the first file is written. Errors: kIntegrity; kQuotaExceeded - no room;
  /// kUnavailable.
  virtual Task<Result<void>> restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                                     const CallContext& call) = 0;

  /// Removes a snapshot's objects; success where they are gone.
  virtual Task<Result<void>> remove(const SnapshotRef& snapshot, const CallContext& call) = 0;

  /// Removes every object of one incarnation; with `attempt` not empty, only of that attempt.
  virtual Task<Result<void>> remove_all(const SnapshotOwner& owner, const OperationId& attempt,
                                        const CallContext& call) = 0;

  /// The deployments that have snapshots in this object store, for when the records are lost.
  virtual Task<Result<std::vector<DeploymentId>>> deployments(const CallContext& /*call*/) {
    co_return Error(ErrorCode::kUnsupported, "this snapshotter cannot list deployments");
  }

  /// A page of a deployment's snapshots, all of one sandbox together.
  virtual Task<Result<FoundSnapshots>> find(const DeploymentId& /*deployment*/,
                                            const std::string& /*after*/,
                                            const CallContext& /*call*/) {
    co_return Error(ErrorCode::kUnsupported, "this snapshotter cannot list snapshots");
  }
};

}  // namespace cove

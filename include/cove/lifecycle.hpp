/// LifecycleManager: brings sandboxes into the state that is asked for, whatever crashes meanwhile.
///
/// The rules are one table of pure functions (src/lifecycle/transitions.hpp, shown in
/// docs/lifecycle.md); this class performs them: claim by compare-and-swap, do a phase's work, swap
/// the phase in, go on. Any process may take over what a dead one left.
///
/// Used on Cove's scheduler only; it has no thread, no lock and no blocking wait of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cove/clock.hpp>
#include <cove/id_source.hpp>
#include <cove/lease.hpp>
#include <cove/log.hpp>
#include <cove/metadata_store.hpp>
#include <cove/policy.hpp>
#include <cove/provider.hpp>
#include <cove/record.hpp>
#include <cove/scheduler.hpp>
#include <cove/snapshot.hpp>

namespace cove {

/// Says which of the processes that own operations are still there.
class OwnerRegistry {
 public:
  virtual ~OwnerRegistry() = default;

  /// This process's own id; it counts as alive for as long as the process lives.
  virtual OwnerId self() const = 0;

  /// True only where it is certain that the owner's process has ended (its owner file on this
  /// machine is unlocked). False where unknown: then the heartbeat decides.
  virtual bool certainly_dead(const OwnerId& owner) const = 0;
};

/// One step that a record took; told after the swap that made it true.
struct LifecycleEvent {
  SandboxId sandbox;
  SandboxState state = SandboxState::kAbsent;  ///< after the step
  OperationKind kind = OperationKind::kProvision;
  Phase phase = Phase::kClaimed;
  bool completed = false;  ///< the operation ended and left `state`
  std::string error;       ///< of an operation that failed or was abandoned
};

class LifecycleObserver {
 public:
  virtual ~LifecycleObserver() = default;

  /// Called on Cove's scheduler; must not block.
  virtual void on_event(const LifecycleEvent& event) = 0;
};

struct LifecycleSettings {
  std::chrono::milliseconds stop_after{std::chrono::minutes(60)};  ///< idle while running
  std::chrono::milliseconds archive_after{std::chrono::days(7)};   ///< idle while stopped
  std::chrono::milliseconds activity_lease{std::chrono::seconds(60)};
  std::chrono::milliseconds activity_idle{
      std::chrono::minutes(5)};  ///< no call for so long: not renewed
  std::chrono::milliseconds heartbeat{std::chrono::seconds(5)};
  std::chrono::milliseconds owner_dead_after{std::chrono::seconds(30)};
  std::chrono::milliseconds tombstone_keep{std::chrono::days(30)};
  std::uint32_t attention_after = 5;  ///< failures one after another until `needs_attention`
};

/// What the manager works with. Borrowed: all outlive the manager. Observer and log may be null.
struct LifecycleParts {
  MetadataStore& store;
  Provider& provider;
  Snapshotter& snapshotter;
  const Clock& clock;
  Scheduler& scheduler;
  IdSource& ids;
  const OwnerRegistry& owners;
  SandboxPolicy policy{};  ///< of every instance that is started
  LifecycleObserver* observer = nullptr;
  LogSink* log = nullptr;
};

/// What an acquire had to do.
enum class AcquireWork : std::uint8_t { kNone, kProvisioned, kResumed, kRestored };

struct AcquiredInstance {
  InstanceRef instance;
  AcquireWork work = AcquireWork::kNone;
};

/// What to do with activity that is live when a stop is asked for.
enum class StopDrain : std::uint8_t {
  kRefuse,  ///< kFailedPrecondition while another host uses it or a command runs
  kCancel,  ///< end it
};

struct SweepReport {
  std::uint32_t examined = 0;
  std::uint32_t stopped = 0;
  std::uint32_t archived = 0;
  std::uint32_t recovered = 0;  ///< operations of dead owners finished or abandoned
  std::uint32_t deleted = 0;    ///< garbage removed
  std::uint32_t skipped = 0;    ///< on another node, or in use meanwhile
  std::vector<std::string> errors;
};

/// What exists on this node and no record names. Volumes are reported and kept.
struct OrphanReport {
  std::vector<VolumeRef> volumes;
  std::vector<InstanceRef> instances;

  /// What other deployments have on this node: their metadata is elsewhere, or was in memory and is
  /// gone. Cove cannot tell which, and touches nothing of it.
  std::vector<VolumeRef> foreign_volumes;
  std::vector<InstanceRef> foreign_instances;
};

struct RecordPage {
  std::vector<Record> records;
  std::string next;  ///< for `after`; empty = this was the last page
};

class LifecycleManager {
 public:
  /// Reads or makes the deployment's document, so the first thing that touches the store.
  static Task<Result<std::unique_ptr<LifecycleManager>>> open(LifecycleParts parts,
                                                              LifecycleSettings settings,
                                                              const CallContext& call);
  ~LifecycleManager();
  LifecycleManager(const LifecycleManager&) = delete;
  LifecycleManager& operator=(const LifecycleManager&) = delete;

  const DeploymentId& deployment() const;

  /// Named leases in the same store, each as long as `activity_lease`: `prepare:<sandbox id>` and
  /// others. Each Lease must end before `close`.
  Leases& leases();

  /// Makes the workspace run, from absent, stopped or archived, and takes an activity lease for
  /// this process. Waits for an operation that another holds, and takes over one whose owner is
  /// dead. `sandbox` empty = the key's own id; another adopts an old record. Errors: kUnavailable -
  /// not now, says what is going on, and retry_after; kConflict - the record of that id has another
  /// key; kIntegrity - volume or snapshot is not what it must be; kFailedPrecondition - its source
  /// was deleted; kTimeout. Cancellation: the record is in one of its states; the next acquire goes
  /// on.
  Task<Result<AcquiredInstance>> acquire(const WorkspaceKey& key, const SandboxId& sandbox,
                                         const CallContext& call);

  /// Says that a call is made now; cheap, written at most once in a third of the lease.
  void touch(const SandboxId& sandbox);

  /// Ends this process's activity lease and moves last_active_at.
  Task<Result<void>> release(const SandboxId& sandbox, const CallContext& call);

  /// Tells that the instance cannot be reached. Asks the provider, and only where it says gone, and
  /// the epoch is the record's, the record becomes stopped. Returns whether it did.
  Task<Result<bool>> report_unreachable(const InstanceRef& instance, const CallContext& call);

  /// Stops, archives, destroys; success where it is so already. archive stops first.
  /// Errors: kNotFound - no such sandbox; kFailedPrecondition - in use; else as acquire.
  Task<Result<void>> stop(const SandboxId& sandbox, StopDrain drain, const CallContext& call);
  Task<Result<void>> archive(const SandboxId& sandbox, StopDrain drain, const CallContext& call);
  Task<Result<void>> destroy(const SandboxId& sandbox, const CallContext& call);

  /// Destroys every sandbox of a source (`source_type/source_id`) and forbids new ones, until it is
  /// revived. Returns how many it destroyed. Errors: the first of those that could not be (another
  /// node's: kUnavailable); the source stays deleted, call again.
  Task<Result<std::uint32_t>> destroy_source(const std::string& source, const CallContext& call);

  /// Allows a deleted source to have sandboxes again.
  Task<Result<void>> revive_source(const std::string& source, const CallContext& call);

  /// One pass: idle running sandboxes are stopped, idle stopped ones archived, operations of dead
  /// owners finished or abandoned, garbage and tombstones removed. Safe on many hosts at once.
  Task<Result<SweepReport>> sweep(const CallContext& call);

  /// Reads one record; kNotFound.
  Task<Result<Record>> find(const SandboxId& sandbox, const CallContext& call);

  /// Reads a page of records by sandbox id; `source` as in DocumentIndex, empty = all.
  Task<Result<RecordPage>> list(const std::string& source, const std::string& after,
                                std::uint32_t limit, const CallContext& call);

  Task<Result<OrphanReport>> orphans(const CallContext& call);

  /// Releases every activity lease of this process; the manager is of no use afterwards.
  Task<void> close(const CallContext& call);

 private:
  class Impl;
  explicit LifecycleManager(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cove

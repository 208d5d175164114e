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
#include <cove/lifecycle_report.hpp>
#include <cove/lifecycle_settings.hpp>
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

/// A provider beside the usual one. Its name() is what records keep, and no other has it.
struct NamedProvider {
  Provider& provider;
  SandboxPolicy policy{};  ///< of every instance that is started by it
};

/// What the manager works with. Borrowed: all outlive the manager. Observer and log may be null.
struct LifecycleParts {
  MetadataStore& store;
  Provider& provider;  ///< the usual one: what is new begins there
  Snapshotter& snapshotter;
  const Clock& clock;
  Scheduler& scheduler;
  IdSource& ids;
  const OwnerRegistry& owners;
  SandboxPolicy policy{};  ///< of every instance that the usual provider starts
  LifecycleObserver* observer = nullptr;
  LogSink* log = nullptr;
  std::vector<NamedProvider> others{};
};

/// What to do with activity that is live when a stop is asked for.
enum class StopDrain : std::uint8_t {
  kRefuse,  ///< kFailedPrecondition while another host uses it or a command runs
  kCancel,  ///< end it
};

/// What a stop does about use that is going on.
struct StopOptions {
  StopDrain drain = StopDrain::kRefuse;

  /// How long what runs may take to finish before `drain` decides. Meanwhile an acquire waits, and
  /// hosts that hold the workspace without running anything lose it: their next call acquires it
  /// again. 0 = no time; at most 1 h.
  std::chrono::milliseconds wait{0};
};

/// Where a workspace is to go, and what becomes of who uses it.
struct RelocateOptions {
  std::string provider;  ///< the name of one that this process has

  /// As of a stop: a workspace that is in use is stopped first.
  StopDrain drain = StopDrain::kRefuse;
  std::chrono::milliseconds wait{0};
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

  /// The deployment that the store belongs to.
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

  /// Says that a call is made now; cheap, written at most once in a third of the lease. False: this
  /// process does not use the sandbox (any more): acquire it again.
  bool touch(const SandboxId& sandbox);

  /// True while a stop lets what runs in the sandbox finish, as far as this process has seen: then
  /// nothing new is begun in it, and an acquire waits.
  bool drains(const SandboxId& sandbox) const;

  /// True while another process has an activity lease: it made a call of late, and may make the
  /// next. One of a process that is certainly dead does not count. False where there is no sandbox.
  /// Errors: those of the store.
  Task<Result<bool>> is_used_by_others(const SandboxId& sandbox, const CallContext& call);

  /// Ends this process's activity lease and moves last_active_at.
  Task<Result<void>> release(const SandboxId& sandbox, const CallContext& call);

  /// Tells that the instance cannot be reached. Asks the provider, and only where it says gone, and
  /// the epoch is the record's, the record becomes stopped. Returns whether it did.
  Task<Result<bool>> report_unreachable(const InstanceRef& instance, const CallContext& call);

  /// Stops, archives, destroys; success where it is so already. archive stops first.
  /// Errors: kNotFound - no such sandbox; kFailedPrecondition - in use; else as acquire.
  Task<Result<void>> stop(const SandboxId& sandbox, const StopOptions& options,
                          const CallContext& call);
  Task<Result<void>> archive(const SandboxId& sandbox, const StopOptions& options,
                             const CallContext& call);
  Task<Result<void>> stop(const SandboxId& sandbox, StopDrain drain, const CallContext& call);
  Task<Result<void>> archive(const SandboxId& sandbox, StopDrain drain, const CallContext& call);
  Task<Result<void>> destroy(const SandboxId& sandbox, const CallContext& call);

  /// Moves a workspace to another provider (another image), where it then runs: stops it, archives
  /// it, deletes it there and restores it here; from the archive it is restored at once. Success
  /// where it is there already. What is running and not kept by an archive (HOME, the system layer)
  /// stays behind. Before the upload it can be abandoned, and is when it fails or a user comes;
  /// from then on its users get it in the new place, and the sweeper goes on with what failed.
  /// Errors: as archive's and acquire's; kInvalidArgument - no such provider here; kQuotaExceeded.
  /// Cancellation: what was begun goes on.
  Task<Result<void>> relocate(const SandboxId& sandbox, const RelocateOptions& options,
                              const CallContext& call);

  /// Destroys every sandbox of a source (`source_type/source_id`) and forbids new ones, until it is
  /// revived. Returns how many it destroyed; `progress` is told after each, on Cove's scheduler,
  /// and must not block. Errors: the first of those that could not be (another node's:
  /// kUnavailable); the source stays deleted: call again, and it goes on. Cancellation: the same.
  Task<Result<std::uint32_t>> destroy_source(
      const std::string& source, std::function<void(const SourceProgress& so_far)> progress,
      const CallContext& call);
  Task<Result<std::uint32_t>> destroy_source(const std::string& source, const CallContext& call);

  /// Allows a deleted source to have sandboxes again.
  Task<Result<void>> revive_source(const std::string& source, const CallContext& call);

  /// One pass: idle running sandboxes are stopped, idle stopped ones archived, operations of dead
  /// owners finished or abandoned, garbage and tombstones removed. Safe on many hosts at once.
  /// Oldest first, and no source holds up the others; memory is bounded however many are due.
  Task<Result<SweepReport>> sweep(const SweepOptions& options, const CallContext& call);
  Task<Result<SweepReport>> sweep(const CallContext& call);

  /// Sets what a source (`source_type/source_id`) wants instead of the settings' thresholds, and
  /// reads it. kInvalidArgument: a time below 0.
  Task<Result<void>> set_idle_policy(const std::string& source, const IdlePolicy& policy,
                                     const CallContext& call);
  Task<Result<IdlePolicy>> idle_policy(const std::string& source, const CallContext& call);

  /// Reads one record; kNotFound.
  Task<Result<Record>> find(const SandboxId& sandbox, const CallContext& call);

  /// Reads a page of records by sandbox id; `source` as in DocumentIndex, empty = all.
  Task<Result<RecordPage>> list(const std::string& source, const std::string& after,
                                std::uint32_t limit, const CallContext& call);

  /// Looks for what exists on this node without a record; removes nothing.
  Task<Result<OrphanReport>> orphans(const CallContext& call);

  /// Makes the records of a deployment again, after its metadata was lost, and gives this store its
  /// name: of every sandbox that has a snapshot, archived with its newest one, or stopped where
  /// this node has its volume. Nothing that is there is overwritten; it may be repeated. An empty
  /// `deployment` is the only one that the object store has. No other process may use the store
  /// meanwhile. Errors: kFailedPrecondition - the store has records of another deployment;
  /// kNotFound
  /// - there is nothing to recover from; kInvalidArgument - there are several: name one.
  Task<Result<RecoverReport>> recover(const DeploymentId& deployment, const CallContext& call);

  /// What there is, and what this process did since it began, in Prometheus's text form. Counts
  /// records in the store and reads only those that run or have something to do, and the quotas'
  /// places: meant for every 15 s or so, however many sandboxes are archived.
  Task<Result<std::string>> metrics(const CallContext& call);

  /// Waits for what goes on, past the call's deadline too, since it uses the parts; then releases
  /// every activity lease of this process. The manager is of no use afterwards.
  Task<void> close(const CallContext& call);

 private:
  class Impl;
  explicit LifecycleManager(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cove

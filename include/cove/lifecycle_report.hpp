/// What the lifecycle tells: its events, and the answers of its requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cove/provider.hpp>
#include <cove/record.hpp>

namespace cove {

/// Why somebody began an operation, or took it over.
enum class Reason : std::uint8_t {
  kAcquire,   ///< a user wants the workspace; of kLost: a call found that the instance is gone
  kAsked,     ///< stop, archive, destroy and the like were called
  kIdle,      ///< the sweep: nobody used it for long enough
  kRecovery,  ///< the sweep: its holder is dead, it failed before, or its instance is gone
  kSource,    ///< its source was deleted
};

std::string_view name_of(Reason reason) noexcept;  ///< "idle"

/// One step that a record took; told after the swap that made it true.
struct LifecycleEvent {
  SandboxId sandbox;
  SandboxState state = SandboxState::kAbsent;  ///< after the step
  OperationKind kind = OperationKind::kProvision;
  Phase phase = Phase::kClaimed;
  bool completed = false;  ///< the operation ended and left `state`
  std::string error;       ///< of an operation that failed or was abandoned
  Reason reason = Reason::kAcquire;
  /// Since this process began or took over the operation; of kLost, since it asked the provider.
  std::chrono::milliseconds duration{0};
};

/// Hears of the steps that records take.
class LifecycleObserver {
 public:
  virtual ~LifecycleObserver() = default;

  /// Called on Cove's scheduler; must not block.
  virtual void on_event(const LifecycleEvent& event) = 0;
};

/// What an acquire had to do.
enum class AcquireWork : std::uint8_t { kNone, kProvisioned, kResumed, kRestored };

/// What an acquire got.
struct AcquiredInstance {
  InstanceRef instance;
  AcquireWork work = AcquireWork::kNone;
  std::string provider;  ///< whose it is
};

/// What a sweep did about one sandbox, or would do.
struct SweepStep {
  SandboxId sandbox;
  std::string action;  ///< "stop", "archive", "recover"
  std::string error;   ///< empty = it succeeded, or was only planned
};

/// What one sweep did.
struct SweepReport {
  std::uint32_t examined = 0;
  std::uint32_t stopped = 0;
  std::uint32_t archived = 0;
  std::uint32_t recovered = 0;      ///< operations of dead owners finished or abandoned
  std::uint32_t lost = 0;           ///< said running, and their instance was gone: stopped now
  std::uint32_t deleted = 0;        ///< garbage removed
  std::uint32_t skipped = 0;        ///< on another node, or in use meanwhile
  std::vector<std::string> errors;  ///< at most 1,000; `failed` counts all
  std::uint32_t failed = 0;
  std::vector<SweepStep> planned;  ///< of a dry run, at most 1,000
};

/// How a sweep goes on.
struct SweepOptions {
  bool dry_run = false;       ///< decides, and does nothing
  std::uint32_t at_once = 4;  ///< sandboxes worked on at a time, 1 to 64
  /// Told after each sandbox that something was done about, on Cove's scheduler; must not block.
  std::function<void(const SweepStep& step, const SweepReport& so_far)> progress;
};

/// How far the destruction of a source is.
struct SourceProgress {
  std::uint32_t destroyed = 0;
  std::uint32_t failed = 0;
  SandboxId sandbox;  ///< the newest
};

/// What exists on this node and no record names, of all providers of this process. Volumes are
/// reported and kept.
struct OrphanReport {
  std::vector<VolumeRef> volumes;
  std::vector<InstanceRef> instances;

  /// What other deployments have on this node: their metadata is elsewhere, or was in memory and is
  /// gone. Cove cannot tell which, and touches nothing of it.
  std::vector<VolumeRef> foreign_volumes;
  std::vector<InstanceRef> foreign_instances;

  /// Provider::name() of where each of these volumes is, also those of the instances.
  std::map<VolumeRef, std::string> providers{};

  /// The same of one of them; empty where the report does not have it.
  std::string provider_of(const VolumeRef& volume) const {
    const auto found = providers.find(volume);
    return found == providers.end() ? std::string() : found->second;
  }
};

/// What `recover` made of the object store and this node.
struct RecoverReport {
  DeploymentId deployment;
  std::uint32_t archived = 0;  ///< records made, of snapshots
  std::uint32_t stopped = 0;   ///< records made, of volumes of this node, whose key a snapshot told
  std::uint32_t kept = 0;      ///< records that were there, and were left as they are
  std::uint32_t destroyed = 0;        ///< passed by: a tombstone says that they were destroyed
  std::vector<std::string> problems;  ///< what a person has to decide; at most 1,000
};

/// Some records, by sandbox id.
struct RecordPage {
  std::vector<Record> records;
  std::string next;  ///< for `after`; empty = this was the last page
};

}  // namespace cove

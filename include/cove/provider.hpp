/// The seam to what gives compute and disks: volumes and instances.
///
/// A volume is a sandbox's disk, named by its generation; an instance is the running compute on it,
/// named by its epoch. Every call is idempotent: repeating it, also from another process after a
/// crash, ends in the same state, and each says below what it finds already done. Every call
/// names deployment, sandbox, generation and epoch, and touches nothing of another.
///
/// A volume carries a marker (deployment, sandbox, generation) outside the sandbox's view. Where
/// volume or marker is missing or differs, start, open and connect end with kIntegrity and change
/// nothing. An instance holds a kernel lock on its volume for as long as anything of it runs.
///
/// All calls are made on Cove's scheduler and complete there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/guest.hpp>
#include <cove/ids.hpp>
#include <cove/policy.hpp>
#include <cove/task.hpp>

namespace cove {

/// Names a volume: the disk of one sandbox.
struct VolumeRef {
  DeploymentId deployment;
  SandboxId sandbox;
  Generation generation;

  friend auto operator<=>(const VolumeRef&, const VolumeRef&) = default;
};

/// Names an instance: one start of what runs on a volume.
struct InstanceRef {
  VolumeRef volume;
  Epoch epoch{};

  friend auto operator<=>(const InstanceRef&, const InstanceRef&) = default;
};

/// What a provider can do besides the calls below.
struct ProviderCapabilities {
  bool offline_volume = false;  ///< open_volume works; else archives go through a helper instance
  bool limits = false;          ///< SandboxLimits are enforced; else best effort
  bool egress_policy = false;
  bool pause = false;
};

/// Whether an instance runs.
enum class InstanceState : std::uint8_t {
  kRunning,  ///< something of this epoch runs
  kGone,     ///< nothing of this epoch runs, and the provider itself says so: it is no guess
};

/// What the provider sees of an instance.
struct InstanceStatus {
  InstanceState state = InstanceState::kGone;
  bool volume_present = false;  ///< the volume is there and its marker is right
};

/// What exists of one deployment on this node.
struct ProviderInventory {
  std::vector<VolumeRef> volumes;
  std::vector<InstanceRef> instances;
  std::vector<DeploymentId> others;  ///< deployments besides it that have or had volumes here
};

/// What an opened volume is used for.
enum class VolumeAccess : std::uint8_t { kRead, kWrite };

/// How a host's ids relate to those that the sandbox sees: inside = outside - `offset`, for
/// outside ids from `offset` on, `count` of them; where `single` every file belongs to the host's
/// one user outside and to uid 1000 inside.
struct IdMapping {
  std::uint32_t offset = 0;
  std::uint32_t count = 0;
  bool single = false;
};

/// A volume opened while nothing runs; no instance can start on it until this is destroyed.
class OfflineVolume {
 public:
  virtual ~OfflineVolume() = default;

  /// A directory descriptor of the workspace's root. Borrowed. What is opened through it is opened
  /// beneath it, without links and magic links, and checked after opening: the content is hostile.
  virtual int workspace() const = 0;

  /// The same of what is HOME inside; -1 where the volume has none that can be opened.
  virtual int home() const { return -1; }

  /// How the files' owners outside relate to those inside.
  virtual IdMapping ids() const = 0;

  /// Writes everything to the disk; what was written before is there after a crash.
  virtual Task<Result<void>> sync(const CallContext& call) = 0;
};

/// Gives volumes, and runs instances on them.
class Provider {
 public:
  virtual ~Provider() = default;

  /// The provider's name as records keep it: "local".
  virtual std::string_view name() const = 0;

  /// The node from which its volumes can be reached; empty = from everywhere.
  virtual NodeId node() const = 0;

  /// What it can do; the same for its whole life.
  virtual ProviderCapabilities capabilities() const = 0;

  /// Creates an empty volume, or completes a half made one; its marker is written last. It is on
  /// the disk when a start or an opening of it returns. Errors: kQuotaExceeded - no room;
  /// kProvider.
  virtual Task<Result<void>> create_volume(const VolumeRef& volume, const CallContext& call) = 0;

  /// Deletes a volume; success where it is gone. kFailedPrecondition - an instance runs on it or it
  /// is open.
  virtual Task<Result<void>> delete_volume(const VolumeRef& volume, const CallContext& call) = 0;

  /// Opens a volume offline. Errors: kFailedPrecondition - an instance runs on it, or it is open;
  /// kIntegrity - missing or not the one named; kUnsupported - no `offline_volume`.
  virtual Task<Result<std::unique_ptr<OfflineVolume>>> open_volume(const VolumeRef& volume,
                                                                   VolumeAccess access,
                                                                   const CallContext& call) = 0;

  /// Starts an instance and returns when its guest answers. Success where this epoch runs already.
  /// An older epoch that still runs is stopped first; where a newer one runs, or this one was
  /// stopped before: kConflict. (A request may arrive again, long after it was answered.)
  /// Errors: kIntegrity - the volume; kProvider - with cause and remedy (bubblewrap missing,
  /// namespaces forbidden); kUnavailable - node out of reach; kQuotaExceeded - no room.
  virtual Task<Result<void>> start_instance(const InstanceRef& instance,
                                            const SandboxPolicy& policy,
                                            const CallContext& call) = 0;

  /// Ends everything of that epoch and of older ones: commands get SIGTERM and their grace time, of
  /// which 10 s are given at most. Returns when nothing of them runs.
  /// Success where nothing runs. A newer epoch is not touched.
  virtual Task<Result<void>> stop_instance(const InstanceRef& instance,
                                           const CallContext& call) = 0;

  /// Says what runs. It answers kGone only from the node of the volume.
  virtual Task<Result<InstanceStatus>> inspect(const InstanceRef& instance,
                                               const CallContext& call) = 0;

  /// Connects to a running instance's guest. Connections are kept and shared: the same guest may
  /// come back. Errors: kUnavailable - nothing answers (gone, or not reachable: `inspect` tells
  /// which); kConflict - another epoch answers; kIntegrity - something that is not this sandbox's
  /// guest answers.
  virtual Task<Result<std::shared_ptr<Guest>>> connect(const InstanceRef& instance,
                                                       const CallContext& call) = 0;

  /// Lists what exists of this deployment, to find orphans.
  virtual Task<Result<ProviderInventory>> list(const DeploymentId& deployment,
                                               const CallContext& call) = 0;
};

}  // namespace cove

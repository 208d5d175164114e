/// Instances: starts, ends and looks at what runs on volumes. Every call is one short, blocking
/// step; local_provider.cpp repeats those that say they are not done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/policy.hpp>
#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/instance/launch.hpp"
#include "providers/local/layer/system_layer.hpp"
#include "providers/local/sandbox/made_up_etc.hpp"
#include "providers/local/state_directory.hpp"
#include "providers/local/volume/volumes.hpp"

namespace cove::local {

/// What a step of a start found.
enum class StartState : std::uint8_t {
  kBusy,     ///< another call works on the volume: again soon
  kOffline,  ///< somebody has the volume open: again soon, for a while
  kEnding,   ///< an older epoch was told to end: again soon
  kRuns,     ///< this epoch runs already
  kReady,    ///< nothing runs, and nobody but this call can start
};

/// A start under way; the volume's operation lock is held for as long as this lives.
struct StartAttempt {
  StartState state = StartState::kBusy;
  std::optional<OpenedVolume> volume;
  std::optional<VolumeHold> hold;
  VolumeLock instance_lock;
};

/// An instance that was started and whose agent is still to answer.
struct StartedInstance {
  Launched launched;
  base::UniqueFd socket;  ///< connected
  InstanceCgroup cgroup;
};

class Instances {
 public:
  /// All are borrowed and outlive this.
  Instances(const StateDirectory& state, const Volumes& volumes, const Cgroups& cgroups,
            LaunchToolbox& toolbox, MadeUpEtc& etc, SystemLayers& layers, PidSpace here);

  /// Takes the volume for a start and ends an older epoch. Errors: kIntegrity; kConflict - a newer
  /// epoch runs.
  Result<StartAttempt> begin_start(const InstanceRef& instance) const;

  /// Hands the attempt's instance lock over to what it starts. Leaves nothing where it fails.
  /// REQUIRES: a kReady attempt of this instance. Errors: kProvider, with cause and remedy.
  Result<StartedInstance> start(const InstanceRef& instance, const SandboxPolicy& policy,
                                StartAttempt& attempt) const;

  /// Completes a start whose agent answered.
  Result<void> settle(const StartedInstance& started) const;

  /// Ends a start whose agent did not answer. kBusy: not all of it is gone yet.
  Result<Step> abandon_start(const InstanceRef& instance, const StartedInstance& started,
                             const StartAttempt& attempt) const;

  /// Asks the agent of that epoch, or of an older one, to end its commands and itself. kBusy: it
  /// still lives.
  Result<Step> ask_to_end(const InstanceRef& instance) const;

  /// Ends that epoch and older ones. kBusy: not all of it is gone yet.
  Result<Step> stop(const InstanceRef& instance) const;

  Result<InstanceStatus> inspect(const InstanceRef& instance) const;

  /// Connects to the agent of an instance that runs. Errors: kIntegrity; kUnavailable; kConflict.
  Result<base::UniqueFd> connect(const InstanceRef& instance) const;

  /// What runs of a deployment, named or not.
  Result<std::vector<InstanceRef>> list(const DeploymentId& deployment) const;

 private:
  struct Sight {
    std::optional<InstanceRecord> record;
    bool locked = false;     ///< the volume's instance lock is held
    bool operation = false;  ///< somebody works on the volume
    bool alive = false;      ///< the recorded process lives
  };
  Result<Sight> look(const VolumeRef& volume) const;
  Result<StartedInstance> try_start(const InstanceRef& instance, const SandboxPolicy& policy,
                                    const StartAttempt& attempt) const;
  Result<bool> end(const InstanceRecord& record, bool locked) const;
  bool clear(const VolumeRef& volume, Epoch up_to) const;
  std::string cgroup_prefix_of(const VolumeRef& volume) const;
  bool remove_cgroups(const VolumeRef& volume, Epoch up_to) const;

  const StateDirectory& state_;
  const Volumes& volumes_;
  const Cgroups& cgroups_;
  LaunchToolbox& toolbox_;
  MadeUpEtc& etc_;
  SystemLayers& layers_;
  PidSpace here_;
};

}  // namespace cove::local

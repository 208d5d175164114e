/// Brings one instance to life: descriptors, plan, launcher.
#pragma once

#include <string>

#include <cove/policy.hpp>
#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/unique_fd.hpp"
#include "providers/local/agent_image.hpp"
#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/volume/volumes.hpp"

namespace cove::local {

/// What every start on this machine has in common.
struct LaunchTools {
  std::string bubblewrap;             ///< empty: not found
  std::string configured_bubblewrap;  ///< as the configuration names it; empty: looked up
  AgentImage image;
  std::string seccomp;  ///< BPF program
  PidSpace space;
};

struct LaunchSpec {
  InstanceRef instance;
  SandboxPolicy policy;  ///< limits filled in
  const OpenedVolume& volume;
  const VolumeLock& lock;  ///< holds LockRole::kInstance
  int run_directory = -1;  ///< the instance's own, below run/
  int etc = -1;
  const InstanceCgroup* cgroup = nullptr;  ///< null: limits are best effort
  std::string cgroup_name;
};

struct Launched {
  base::UniqueFd process;  ///< pidfd of what becomes bubblewrap
  base::UniqueFd errors;   ///< what launcher, bubblewrap and agent wrote to stderr
};

/// Starts the launcher with `listener`, the bound socket that the agent is to serve.
Result<Launched> launch(const LaunchTools& tools, const LaunchSpec& spec, int listener);

/// What was written so far to Launched::errors; at most 8 KiB.
std::string errors_of(const Launched& launched);

}  // namespace cove::local

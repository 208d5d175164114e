/// Brings one instance to life: descriptors, plan, launcher.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <cove/log.hpp>
#include <cove/policy.hpp>
#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "providers/local/agent_image.hpp"
#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/layer/system_layer.hpp"
#include "providers/local/volume/volumes.hpp"

namespace cove::local {

/// What every start on this machine has in common.
struct LaunchTools {
  std::string bubblewrap;
  AgentImage image;
  std::string seccomp;       ///< BPF program
  std::string root_seccomp;  ///< for commands that are root of a system of their own
};

/// Finds the tools when they are first needed: most processes only connect.
class LaunchToolbox {
 public:
  struct Settings {
    int state = -1;          ///< the state directory; borrowed
    std::string bubblewrap;  ///< as configured; empty: looked up
    std::string agent;       ///< as configured; empty: the library's
    std::shared_ptr<LogSink> log;
  };
  explicit LaunchToolbox(Settings settings) : settings_(std::move(settings)) {}

  /// From any thread. kProvider: bubblewrap is missing.
  Result<const LaunchTools*> tools();

 private:
  Settings settings_;
  std::mutex mutex_;
  std::optional<LaunchTools> tools_;
};

struct LaunchSpec {
  InstanceRef instance;
  SandboxPolicy policy;  ///< limits filled in
  const OpenedVolume& volume;
  const VolumeLock& lock;  ///< holds LockRole::kInstance
  int run_directory = -1;  ///< the instance's own, below run/
  int etc = -1;
  const SystemLayer* system = nullptr;  ///< null: the system is read-only
  PidSpace space;
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

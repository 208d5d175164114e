/// Cgroups: one group per instance, with a group for the commands below it.
///
///     v1  <memory|pids|cpu>/<parent>/<name>/          the agent
///                                   <name>/commands/  the commands, with the limits
///     v2  <parent>/<name>/agent/  <parent>/<name>/commands/
///
/// The agent stands beside the commands, not among them, so a fork bomb or a memory hog cannot
/// starve it. Where neither version can be used, `limits` is false and `obstacle` says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <cove/policy.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

/// Where the machine mounts its hierarchies.
struct CgroupMounts {
  std::string memory;   ///< v1; empty = not mounted
  std::string pids;     ///< v1
  std::string cpu;      ///< v1
  std::string unified;  ///< v2

  friend bool operator==(const CgroupMounts&, const CgroupMounts&) = default;
};

/// Reads the text of /proc/self/mountinfo.
CgroupMounts parse_cgroup_mounts(std::string_view mountinfo);

/// Those of this process's mount namespace. An error where no descriptor is left to look.
Result<CgroupMounts> cgroup_mounts();

/// A group that was made, and the descriptors that reach it from inside.
struct InstanceCgroup {
  /// Where a process of one thread writes "0" to enter the agent's group by itself, at once; v1.
  std::vector<base::UniqueFd> enter;
  /// Where this process writes another's pid to move it there; v2.
  base::UniqueFd join;
  /// Where a command writes "0" to enter the commands' group.
  std::vector<base::UniqueFd> commands;
  base::UniqueFd memory;     ///< directory of the commands' memory group
  base::UniqueFd processes;  ///< v1: directory of the commands' pids group
};

class Cgroups {
 public:
  /// Looks at what is mounted and can be written; makes `parent` (relative to each hierarchy). An
  /// error where this process has no descriptors left: that is no reason to go without limits.
  static Result<Cgroups> open(const CgroupMounts& mounts, const std::string& parent);

  bool limits() const noexcept { return obstacle_.empty(); }

  /// Why there are no limits, and what to do.
  const std::string& obstacle() const noexcept { return obstacle_; }
  bool unified() const noexcept { return unified_; }

  /// Makes the group `name` with its limits; one that is left over is used again. `agent`: who may
  /// make groups for single commands below it (v1), where that is not this process's own user.
  /// REQUIRES: limits().
  Result<InstanceCgroup> create(const std::string& name, const SandboxLimits& limits,
                                std::optional<uid_t> agent = {}) const;

  /// Moves a process into the agent's group of an instance; nothing where it enters by itself.
  Result<void> join(const InstanceCgroup& group, pid_t pid) const;

  /// SIGKILL to everything in the group. Success where there is none.
  void kill(const std::string& name) const;

  /// Removes the group and those below it. False: something is still in it.
  bool remove(const std::string& name) const;

  /// The groups whose names begin with `prefix`.
  Result<std::vector<std::string>> find(const std::string& prefix) const;

 private:
  struct Hierarchy {
    std::string controller;
    base::UniqueFd parent;  ///< directory of the groups
  };

  Result<InstanceCgroup> create_v1(const std::string& name, const SandboxLimits& limits,
                                   std::optional<uid_t> agent) const;
  Result<InstanceCgroup> create_v2(const std::string& name, const SandboxLimits& limits) const;

  std::vector<Hierarchy> hierarchies_;
  std::string obstacle_;
  bool unified_ = false;
};

/// The defaults of policy.hpp filled in.
SandboxLimits with_defaults(const SandboxLimits& limits);

}  // namespace cove::local

/// CommandGroup: a control group of one command's own, for its limits and its true figures.
///
/// Made only for a command that has limits, below the group of all commands, whose limits hold too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cove/exec.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// Directories of the commands' groups (cgroup v1); -1 = none, and then no group can be made.
struct GroupParents {
  int memory = -1;
  int processes = -1;
};

/// What of `parents` can be used: both there, writable, and such that a group's limits hold for
/// those below it.
GroupParents usable_parents(const GroupParents& parents);

class CommandGroup {
 public:
  /// kUnsupported: no group can be made here. Other errors: of the kernel.
  static Result<std::unique_ptr<CommandGroup>> make(const GroupParents& parents,
                                                    const std::string& name,
                                                    const CommandLimits& limits);
  ~CommandGroup();
  CommandGroup(const CommandGroup&) = delete;
  CommandGroup& operator=(const CommandGroup&) = delete;

  /// Where the command's first process writes itself in.
  std::vector<int> joins() const;

  /// SIGKILL to everything in it, after it can start no process any more. False: something is or
  /// may be left, ask again.
  bool kill();

  std::uint64_t oom_kills() const;
  std::uint64_t peak_memory() const;

 private:
  struct Part {
    int parent = -1;
    base::UniqueFd directory;
    base::UniqueFd procs;
  };

  explicit CommandGroup(std::string name) : name_(std::move(name)) {}
  Result<void> add(Part& part, int parent);

  std::string name_;
  Part memory_;
  Part processes_;
};

}  // namespace cove::agent

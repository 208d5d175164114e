/// What every command of this agent shares: the agent's own descriptors, ids and limits.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/exec/command_group.hpp"
#include "agent/exec/spawn.hpp"
#include "agent/exec/spill.hpp"
#include "agent/files.hpp"
#include "agent/loop/event_loop.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

class CommandRun;

/// Who reaps keepers, and tells their commands of it.
struct KeeperRegistry {
  virtual ~KeeperRegistry() = default;
  virtual void add(pid_t keeper, std::shared_ptr<CommandRun> run) = 0;
};

struct CommandEnvironment {
  EventLoop* loop = nullptr;
  KeeperRegistry* keepers = nullptr;
  SpillStore* spill = nullptr;
  GroupParents group_parents;  ///< where a command can have a group of its own
  Spawner* spawner = nullptr;
  const Files* files = nullptr;
  std::map<std::string, std::string> variables;  ///< the base of every command's environment
  int null_fd = -1;                              ///< /dev/null for commands without stdin
  std::vector<int> cgroups;
  int oom_counter_fd = -1;  ///< memory.events or memory.oom_control; -1 = none
  SpawnLimits limits;
  bool switch_ids = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

/// How often the kernel killed for memory in the commands' group; 0 where it cannot be known.
std::uint64_t read_oom_kills(int counter_fd);

/// argv[0] as the paths to try: itself with a slash, else one per entry of PATH.
std::vector<std::string> program_candidates(const std::string& program, const std::string& path);

}  // namespace cove::agent

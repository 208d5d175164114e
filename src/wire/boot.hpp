/// What a provider tells the agent when it starts it: one JSON document in an inherited descriptor.
///
///     cove-agent guest FD        FD = the number of a readable, sealed memfd that holds it
///
/// Every other descriptor that the agent uses is inherited too and named here by its number; all
/// are made close-on-exec by the agent before it starts anything. Versioned by `version`;
/// documented in docs/formats.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cove/result.hpp>

namespace cove::wire {

struct AgentBoot {
  std::uint32_t version = 1;
  std::string deployment;  ///< these four are said in the greeting, so a host knows whom it reached
  std::string sandbox;
  std::string generation;
  std::uint64_t epoch = 0;

  int listen_fd = -1;  ///< a bound stream socket; the agent calls listen() on it
  int lock_fd = -1;    ///< holds the volume's lock for as long as the agent lives; -1 = none

  std::string workspace = "/workspace";
  std::string home = "/home/sandbox";

  /// Ids that commands run with and files belong to. Where the agent may change ids (uid 0 with
  /// SETUID, SETGID and KILL) commands get these and no capability; where it already has them
  /// nothing is changed.
  std::uint32_t uid = 1000;
  std::uint32_t gid = 1000;

  /// Capabilities that commands run with, as a bit mask; the agent, which has the same ids then,
  /// keeps these and no others. 0 = commands have none.
  std::uint64_t capabilities = 0;

  std::map<std::string, std::string> environment;  ///< the base of every command's environment

  /// Open `cgroup.procs` (v2) or `tasks`/`cgroup.procs` (v1) files of the commands' group: each
  /// command writes itself in.
  std::vector<int> command_cgroup_fds;

  /// A directory descriptor of the commands' v1 memory or v2 cgroup, to tell out of memory from
  /// other kills (memory.oom_control or memory.events); -1 = none.
  int memory_cgroup_fd = -1;

  /// A directory descriptor of the commands' v1 pids cgroup. With it, and where the agent owns both
  /// directories, a command that has limits gets a group of its own below them; -1 = none.
  int processes_cgroup_fd = -1;

  /// Per-command limits where there is no cgroup; 0 = none.
  std::uint64_t address_space_bytes = 0;
  std::uint64_t processes = 0;
  bool best_effort_limits = false;

  /// Network `proxy`: the agent listens on 127.0.0.1 and sets the proxy variables of commands.
  bool proxy = false;
  std::uint32_t proxy_port = 0;  ///< 0 = one that is free
  std::string proxy_exceptions;  ///< `no_proxy`
};

std::string to_json(const AgentBoot& boot);

/// kInvalidArgument: not a boot document of a version known here.
Result<AgentBoot> parse_agent_boot(std::string_view json);

}  // namespace cove::wire

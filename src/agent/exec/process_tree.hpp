/// The processes below one, found through /proc: who descends from a keeper.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t own_ticks = 0;     ///< processor time, in the kernel's ticks
  std::uint64_t waited_ticks = 0;  ///< of its children that it waited for
  bool zombie = false;
};

/// All processes of the PID namespace as /proc shows them; empty where there is no /proc.
std::vector<ProcessEntry> list_processes();

/// Those of `all` that descend from `root`, without itself, zombies left out.
std::vector<ProcessEntry> descendants(const std::vector<ProcessEntry>& all, pid_t root);

/// The processor time of everything below `root` so far, also of what it reaped.
std::chrono::microseconds cpu_time_of_tree(pid_t root);

/// Sends `signal` to every descendant of `root`; SIGKILL also group by group, which no fork can
/// outrun. Never to `root`, the caller, or the caller's own group. Returns how many there
/// were.
std::size_t signal_tree(pid_t root, int signal);

}  // namespace cove::agent

/// The command line of bubblewrap, as data: everything that a sandbox is, in one place to read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "providers/local/sandbox/system_view.hpp"

namespace cove::local {

struct SandboxSpec {
  std::string bubblewrap;  ///< path of the program

  /// Descriptor of the user namespace of the volume's own uid range, where the host is root; -1:
  /// bubblewrap makes one in which the host's user is uid 1000.
  int user_namespace_fd = -1;
  /// Bubblewrap is started as root of the sandbox's user namespace and makes none.
  bool in_user_namespace = false;

  /// Commands are root of a system of their own: see grants/writable_system.hpp.
  bool is_root = false;

  int seccomp_fd = -1;
  int boot_fd = -1;  ///< what the agent is told, see wire/boot.hpp

  // Paths as bubblewrap finds them.
  std::string workspace;
  std::string home;
  std::string agent;
  std::string etc;

  std::vector<std::string> etc_bound;  ///< see MadeUpEtc::bound_directories
  SystemView system;
  bool host_network = false;
  std::uint64_t tmp_bytes = 0;  ///< the most that /tmp and /dev/shm may hold, each
};

/// Where the agent is found inside.
inline constexpr const char* kAgentPath = "/run/cove-agent";

std::vector<std::string> bubblewrap_command(const SandboxSpec& spec);

}  // namespace cove::local

/// What commands may do where they are root of a system of their own: what package managers need,
/// in the sandbox's user namespace only. Never SYS_PTRACE, SYS_ADMIN, SYS_RESOURCE or MKNOD.
#pragma once

#include <array>
#include <cstdint>

#include <linux/capability.h>

namespace cove::local {

struct RootCapability {
  unsigned number;
  const char* name;
};

inline constexpr std::array kRootCapabilities = {
    RootCapability{CAP_CHOWN, "CAP_CHOWN"},    RootCapability{CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    RootCapability{CAP_FOWNER, "CAP_FOWNER"},  RootCapability{CAP_FSETID, "CAP_FSETID"},
    RootCapability{CAP_KILL, "CAP_KILL"},      RootCapability{CAP_SETGID, "CAP_SETGID"},
    RootCapability{CAP_SETUID, "CAP_SETUID"},  RootCapability{CAP_SYS_CHROOT, "CAP_SYS_CHROOT"},
    RootCapability{CAP_SETFCAP, "CAP_SETFCAP"}};

/// All of them, as AgentBoot::capabilities has them.
constexpr std::uint64_t root_capability_mask() {
  std::uint64_t mask = 0;
  for (const RootCapability& capability : kRootCapabilities) {
    mask |= std::uint64_t{1} << capability.number;
  }
  return mask;
}

}  // namespace cove::local

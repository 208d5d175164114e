/// The system calls that nothing inside a sandbox may make, on top of having no capabilities.
///
/// docs/threat-model.md argues each group. The filter holds for the agent and everything below it;
/// refused calls fail with EPERM, clone3 with ENOSYS (so that libraries fall back to clone, whose
/// flags a filter can see), and a call by another ABI than the machine's own ends the process.
#pragma once

#include <string>

#include <cove/result.hpp>

namespace cove::local {

/// Whether the agent has a uid of its own. Where it shares the commands' uid, changing another
/// process's limits and scheduling is refused too.
enum class AgentUid : bool { kShared, kOwn };

/// Whether commands are root of a system of their own: chroot is allowed then.
enum class SystemRoot : bool { kNone, kOwn };

/// The filter as the kernel's BPF program, for `bwrap --seccomp`.
Result<std::string> seccomp_program(AgentUid agent_uid, SystemRoot root = SystemRoot::kNone);

}  // namespace cove::local

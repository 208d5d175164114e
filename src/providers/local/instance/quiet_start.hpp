/// Starts a program so that the host's process notices nothing: no SIGCHLD, no stray wait result,
/// no descriptor given away, no copy of the host's memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

/// Runs `program` (an open executable) with `arguments` and an empty environment. `descriptors`
/// become its 0, 1, 2, ...; it has no others. Returns its pidfd as soon as it runs.
///
/// The kernel gives every process that calls exec SIGCHLD as its exit signal again, so a child
/// started without one would still announce its end to the host. Hence a process in between, which
/// shares this one's memory for some microseconds, has no exit signal, starts the program and is
/// reaped here. The program's parent is then the machine's reaper; where that is the host itself
/// (PID 1 of a container, or a subreaper), `reap_adopted` takes what is left.
Result<base::UniqueFd> start_quietly(int program, const std::vector<std::string>& arguments,
                                     std::span<const int> descriptors);

/// Reaps the process behind a pidfd that has become readable, where it is this process's child.
void reap_adopted(int pidfd) noexcept;

}  // namespace cove::local

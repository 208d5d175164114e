/// The agent's life: boot, serve, end.
#pragma once

#include <cove/result.hpp>

namespace cove::agent {

/// Serves until it is killed; returns where it could not start, or after a SIGTERM that ended every
/// command first (a PID 1 hears it from outside its sandbox only).
Result<void> run_guest(int boot_fd);

}  // namespace cove::agent

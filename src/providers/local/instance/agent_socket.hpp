/// The socket of an instance's agent, in the instance's run directory.
#pragma once

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

/// Binds and listens at `agent.sock` in a run directory. The host listens, not only the agent: who
/// connects early waits in the queue, and learns of a failed start by the end of the connection.
Result<base::UniqueFd> listen_in(int run_directory);

/// Connects to it, without blocking. kUnavailable: nobody listens, or the queue is full.
Result<base::UniqueFd> connect_in(int run_directory);

}  // namespace cove::local

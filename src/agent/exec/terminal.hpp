/// A pseudo terminal for a command.
#pragma once

#include <cove/exec.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// Ends of one terminal: what the agent reads and writes, and what the command has.
struct Terminal {
  base::UniqueFd reader;  ///< non-blocking
  base::UniqueFd writer;  ///< the same end once more, non-blocking
  base::UniqueFd command;
};

/// kUnsupported: this sandbox has no terminals to give (/dev/pts).
Result<Terminal> open_terminal(TerminalSize size);

/// Also tells the programs on it (SIGWINCH).
Result<void> resize_terminal(int fd, TerminalSize size);

}  // namespace cove::agent

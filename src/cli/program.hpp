/// The whole command but for what only a process has: arguments, environment, signals.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/machine/home.hpp"
#include "cli/output/output.hpp"

namespace cove::cli {

struct Program {
  std::vector<std::string> arguments;  ///< without the program's name
  Surroundings surroundings;
  const Output& output;
  std::stop_token stop;
  std::function<int()> signal;  ///< the signal that asked to stop; 0 = none
};

/// Does what the arguments say. The result is the exit code: the command's own, 128 + n for a
/// signal (also one that stopped this program, or SIGPIPE where nobody reads its output), 124
/// timed out, 125 with one line on stderr where Cove could not do it.
int run_program(const Program& program);

}  // namespace cove::cli

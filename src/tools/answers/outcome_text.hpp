/// How a command ended, in words and as data.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <cove/exec.hpp>

namespace cove::tools {

/// "exited with code 1", "was ended by signal 9 (SIGKILL)", "timed out", ...
std::string outcome_text(const Outcome& outcome);

/// Sets outcome, exit_code (as a shell would show it), signal, duration_ms and the usage.
void set_ending(nlohmann::json& data, const ExecResult& result);

/// True where the command came to an end of its own, whatever its exit code.
bool ran_to_its_end(const Outcome& outcome);

}  // namespace cove::tools

/// How a command ended, as machines are told.
#pragma once

#include <cove/exec.hpp>

namespace cove::base {

/// "exited", "signaled", "timed_out", "cancelled", "output_limit", "out_of_memory", "cpu_limit"
const char* outcome_name(const Outcome& outcome) noexcept;

}  // namespace cove::base

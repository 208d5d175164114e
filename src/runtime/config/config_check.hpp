/// What Cove::open asks of a configuration that parse_config did not make.
#pragma once

#include <cove/config.hpp>

namespace cove::runtime {

/// The rules of parse_config, for a Config that was filled in by hand. kInvalidArgument.
Result<void> check_config(const Config& config);

}  // namespace cove::runtime

/// The parts that a host gives cove_open.
#pragma once

#include <cove/parts.hpp>

#include "abi.hpp"

namespace cove::capi {

/// Takes everything over: from the moment that the options can be read, what ends each part is ours
/// to call, whatever else is wrong.
Result<Parts> take_parts(const cove_open_options* options);

}  // namespace cove::capi

/// What to say where a process ran into its limit of open descriptors.
#pragma once

#include <string>

namespace cove::base {

/// "this process may have 64 descriptors open: raise that (...)".
std::string descriptor_limit();

}  // namespace cove::base

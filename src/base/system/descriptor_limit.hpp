/// What to say where a process, or the machine, ran into its limit of open descriptors.
#pragma once

#include <string>

namespace cove::base {

/// "this process may have 64 descriptors open: raise that (...)".
std::string descriptor_limit();

/// What follows an error's text: "; " and the remedy of EMFILE or ENFILE, else nothing.
std::string descriptor_remedy(int error_number);

}  // namespace cove::base

/// What an exception that is caught at a boundary becomes: hosts' parts and callbacks may throw
/// anything.
#pragma once

#include <string>

#include <cove/error.hpp>

namespace cove::base {

/// What the exception says that is being handled. REQUIRES: called in a catch block.
std::string caught_text();

/// The same, as kInternal. REQUIRES: called in a catch block.
Error caught_error();

}  // namespace cove::base

/// What an exception that is caught at a boundary becomes: hosts' parts and callbacks may throw
/// anything.
#pragma once

#include <string>

#include <cove/error.hpp>

namespace cove::base {

/// What the exception says that is being handled. REQUIRES: called in a catch block.
std::string caught_text();

/// The same as an Error: kQuotaExceeded or kUnavailable where the machine has no more descriptors,
/// threads or the like (a std::system_error that says so), else kInternal. REQUIRES: called in a
/// catch block.
Error caught_error();

}  // namespace cove::base

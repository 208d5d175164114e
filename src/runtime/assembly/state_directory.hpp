/// The directory that holds all that one Cove keeps on a machine, closed to everybody else.
#pragma once

#include <string>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::runtime {

/// Opens the directory `path`, and makes it with mode 0700 (and missing parents with 0755) where it
/// is not there. An existing one is not changed. Errors: kPermissionDenied - another user owns it
/// or may enter it, with the command that closes it; kFailedPrecondition - it is no directory;
/// kQuotaExceeded; what the system says else.
Result<base::UniqueFd> open_state_directory(const std::string& path);

}  // namespace cove::runtime

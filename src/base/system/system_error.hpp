/// Turns errno into an Error.
#pragma once

#include <string>

#include <cove/error.hpp>

namespace cove::base {

/// The code that a failed system call means to our callers: ENOENT not found, EACCES and EPERM
/// permission denied, ENOSPC and EDQUOT quota exceeded, EXDEV path escape (of openat2), and so on;
/// else kInternal.
ErrorCode code_of_errno(int error_number) noexcept;

/// `what` says what was tried, with its values: "open '/srv/x'"; the system's words follow it.
Error system_error(int error_number, const std::string& what);

}  // namespace cove::base

/// The version of the headers, and of the library at run time.
#pragma once

#include <string_view>

#define COVE_VERSION_MAJOR 0  ///< of the headers
#define COVE_VERSION_MINOR 1  ///< of the headers
#define COVE_VERSION_PATCH 0  ///< of the headers

namespace cove {

/// "0.1.0": of the library that runs, which may be newer than the headers built against.
std::string_view version() noexcept;

}  // namespace cove

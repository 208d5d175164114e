/// Bounds of what one acquire brings.
#pragma once

#include <cstddef>

namespace cove::prepare {

inline constexpr std::size_t kMaxInputFiles = 500;

/// The kernel takes 128 KiB as one argument.
inline constexpr std::size_t kMaxScriptBytes = 96 * 1024;

}  // namespace cove::prepare

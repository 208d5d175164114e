/// Bytes seen as characters.
#pragma once

#include <string_view>

#include <cove/bytes.hpp>

namespace cove::base {

/// Borrows `bytes`.
inline std::string_view text_of(ByteView bytes) noexcept {
  // SAFETY: any object may be seen as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace cove::base

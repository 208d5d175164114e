/// How far a transfer is, as C hears it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include <cove/transfer.hpp>

#include "abi.hpp"

namespace cove::capi {

/// Empty where nobody asks.
inline Progress progress_of(cove_progress_fn on_progress, void* user_data) {
  if (on_progress == nullptr) return nullptr;
  return [on_progress, user_data](std::uint64_t done, std::optional<std::uint64_t> total) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    on_progress(user_data, done,
                total ? static_cast<std::int64_t>(std::min(*total, kMost)) : std::int64_t{-1});
  };
}

}  // namespace cove::capi

/// Flow: how a callback that is given data slows down what gives it.
#pragma once

#include <cstdint>

namespace cove {

/// A data callback's answer: after kPause nothing more comes, and what makes the data is slowed
/// down, until the handle's `resume`.
enum class Flow : std::uint8_t { kContinue, kPause };

}  // namespace cove

/// What a caller says of one call: until when, and how it is called off.
///
///     std::stop_source stop;
///     CallContext call{.deadline = clock.now() + 5s, .stop = stop.get_token()};
///
/// Copied freely. A function that takes it by reference and returns a Task keeps only the
/// reference: the caller's CallContext lives until the task ends.
#pragma once

#include <optional>
#include <stop_token>

#include <cove/clock.hpp>
#include <cove/result.hpp>

namespace cove {

struct CallContext {
  std::optional<Instant> deadline;  ///< none = wait as long as it takes
  std::stop_token stop;             ///< default = cannot be cancelled

  /// Returns kCancelled or kTimeout once the call should end, else success.
  Result<void> check(const Clock& clock) const {
    if (stop.stop_requested()) return Error(ErrorCode::kCancelled, "the call was cancelled");
    if (deadline && clock.now() >= *deadline) {
      return Error(ErrorCode::kTimeout, "the call's deadline passed");
    }
    return {};
  }
};

}  // namespace cove

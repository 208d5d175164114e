/// What a caller says of one call: until when, how it is called off, and under which lease.
///
///     std::stop_source stop;
///     CallContext call{.deadline = clock.now() + 5s, .stop = stop.get_token()};
///
/// Copied freely. A function that takes it by reference and returns a Task keeps only the
/// reference: the caller's CallContext lives until the task ends.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

#include <cove/clock.hpp>
#include <cove/result.hpp>

namespace cove {

/// How long one call may take, and how it is called off.
struct CallContext {
  std::optional<Instant> deadline;  ///< none = wait as long as it takes
  std::stop_token stop;             ///< default = cannot be cancelled

  /// Lease::token() of the lease under which the call is made; 0 = none. A guest that has seen a
  /// higher one refuses it with kConflict: its holder is late.
  std::uint64_t fence = 0;

  /// The same call with another end: what a part of it is called off by. Whoever gives the token
  /// passes the caller's own stop on.
  CallContext ended_by(std::stop_token other) const {
    CallContext same = *this;
    same.stop = std::move(other);
    return same;
  }

  /// The same call with a deadline of its own, unless the caller's comes first.
  CallContext until(Instant end) const {
    CallContext same = *this;
    if (!deadline || end < *deadline) same.deadline = end;
    return same;
  }

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

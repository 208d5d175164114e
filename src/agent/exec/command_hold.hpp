/// CommandHold: whether new commands are refused, because a stop lets what runs finish.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include <cove/result.hpp>

#include "agent/loop/event_loop.hpp"

namespace cove::agent {

/// It lapses by itself, so that a host which dies in the middle of a stop locks nobody out.
class CommandHold {
 public:
  static constexpr std::chrono::milliseconds kLongest{60'000};

  /// Refuses until `length` from now, in the name of `by`; 0 takes that back for good, so that a
  /// request which was on its way brings nothing back. kConflict: it was taken back before.
  Result<void> ask(const std::string& by, std::chrono::milliseconds length, SteadyTime now) {
    if (length.count() == 0) {
      taken_back_ = by;
      if (by_ == by) until_ = SteadyTime{};
      return {};
    }
    if (by == taken_back_) return Error(ErrorCode::kConflict, "this stop was called off");
    by_ = by;
    until_ = now + std::min(length, kLongest);
    return {};
  }

  bool holds(SteadyTime now) const { return now < until_; }

 private:
  std::string by_;
  std::string taken_back_;  ///< whose hold was, last
  SteadyTime until_{};
};

}  // namespace cove::agent

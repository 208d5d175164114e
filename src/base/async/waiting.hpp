/// A call that blocks its thread, which may be asked whether it goes on (cove/wait_check.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include <cove/call_context.hpp>

#include "base/async/stop_link.hpp"

namespace cove::base {

/// Made on the thread that is going to wait; ends there, innermost first. What blocks it looks at
/// `current` every kWaitTurn.
class Waiting {
 public:
  explicit Waiting(const CallContext& call);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// The caller's, ended also where the thread may not wait on.
  const CallContext& call() const noexcept { return call_; }

  /// Asks, and calls the call off where the answer is no.
  void look();

  /// Of the calling thread; null where nobody is to be asked.
  static Waiting* current() noexcept;

 private:
  CallContext call_;
  std::stop_source called_off_{std::nostopstate};
  std::optional<StopLink> by_caller_;
  Waiting* outer_ = nullptr;
};

/// How long a thread that is to be asked waits without it.
inline constexpr std::chrono::milliseconds kWaitTurn{50};

}  // namespace cove::base

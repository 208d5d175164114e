/// How often and how long a step is tried again that found somebody else at work.
#pragma once

#include <algorithm>

#include <cove/call_context.hpp>
#include <cove/clock.hpp>
#include <cove/task.hpp>

#include "base/async/timing.hpp"
#include "providers/local/local_provider.hpp"

namespace cove::local {

/// Waits between two tries of a step that found somebody else at work, or something still ending.
class Patience {
 public:
  Patience(const LocalRuntime& runtime, Duration bound)
      : runtime_(runtime), give_up_at_(runtime.clock.now() + bound) {}

  bool is_over() const { return runtime_.clock.now() >= give_up_at_; }

  Task<Result<void>> pause(const CallContext& call) {
    const Instant until = runtime_.clock.now() + pause_;
    pause_ = std::min<Duration>(pause_ * 2, std::chrono::milliseconds(20));
    return base::sleep_until(runtime_.loop, until, call);
  }

 private:
  const LocalRuntime& runtime_;
  Instant give_up_at_;
  Duration pause_ = std::chrono::milliseconds(1);
};

}  // namespace cove::local

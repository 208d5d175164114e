/// How long a call waits where others are in its way, and how.
#pragma once

#include <chrono>
#include <string>

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

namespace cove::metadata::sqlite {

/// kUnavailable, with a time to try again.
Error busy_for_too_long(const std::string& path);

/// Ends with the call, or after kBound. `path`, `clock` and the call outlive this.
class Patience {
 public:
  static constexpr Duration kBound = std::chrono::seconds(10);

  Patience(const std::string& path, const Clock& clock, const CallContext& call);

  /// The call, with the bound in it; for waits that end by themselves.
  const CallContext& call() const noexcept { return bounded_; }

  /// Waits a little, each time longer up to 2 ms, by a timer.
  /// kTimeout, kCancelled - the call ended; kUnavailable - the bound came first.
  Task<Result<void>> pause(Scheduler& scheduler);

  /// What an error of a wait on call() means to the caller.
  Error explain(const Error& error) const;

 private:
  const std::string& path_;
  const Clock& clock_;
  CallContext bounded_;
  bool bound_is_ours_;  ///< not the caller's deadline
  Duration delay_;
};

}  // namespace cove::metadata::sqlite

#include "metadata/sqlite/patience.hpp"

#include <algorithm>

#include "base/async/timing.hpp"

namespace cove::metadata::sqlite {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;

constexpr Duration kFirstDelay = 200us;
constexpr Duration kLongestDelay = 2ms;

}  // namespace

Error busy_for_too_long(const std::string& path) {
  return Error(ErrorCode::kUnavailable,
               "metadata store '" + path + "': other writers kept it busy for too long")
      .with_retry_after(500ms);
}

Patience::Patience(const std::string& path, const Clock& clock, const CallContext& call)
    : path_(path), clock_(clock), bounded_(call), delay_(kFirstDelay) {
  const Instant bound = clock.now() + kBound;
  bound_is_ours_ = !call.deadline || *call.deadline > bound;
  if (bound_is_ours_) bounded_.deadline = bound;
}

Task<Result<void>> Patience::pause(Scheduler& scheduler) {
  const Instant until = clock_.now() + delay_;
  delay_ = std::min(2 * delay_, kLongestDelay);
  const Result<void> slept = co_await base::sleep_until(scheduler, until, bounded_);
  if (!slept) co_return explain(slept.error());
  co_return ok();
}

Error Patience::explain(const Error& error) const {
  return bound_is_ours_ && error.code() == ErrorCode::kTimeout ? busy_for_too_long(path_) : error;
}

}  // namespace cove::metadata::sqlite

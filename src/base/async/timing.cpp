#include "base/async/timing.hpp"

#include "base/async/completion.hpp"

namespace cove::base {

Task<Result<void>> sleep_until(Scheduler& scheduler, Instant when, const CallContext& call) {
  const auto completion = Completion<Result<void>>::make(scheduler);
  const TimerId timer = scheduler.call_at(when, [completion] { completion->complete(ok()); });
  Result<void> result = co_await wait_bounded<void>(completion, scheduler, call);
  scheduler.cancel(timer);
  co_return result;
}

}  // namespace cove::base

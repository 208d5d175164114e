#include "lifecycle/waiting.hpp"

#include <algorithm>
#include <utility>

#include "base/async/timing.hpp"

namespace cove::lifecycle {

using namespace std::chrono_literals;

Patience::Patience(const Core& core, const CallContext& call) : core_(core) {
  if (!call.deadline) give_up_ = core.parts.clock.now() + 5min;
}

Task<Result<void>> Patience::wait(Record record, const CallContext& call) {
  const std::string what =
      "sandbox '" + record.sandbox_id.str() + "' is not ready: " + describe(record);
  if (give_up_ && core_.parts.clock.now() >= *give_up_) {
    co_return Error(ErrorCode::kUnavailable, what)
        .with_retry_after(core_.settings.owner_dead_after);
  }
  const Instant when = core_.parts.clock.now() + turn_;
  turn_ = std::min<std::chrono::milliseconds>(turn_ * 2, 200ms);
  const auto slept = co_await base::sleep_until(core_.parts.scheduler, when, call);
  if (!slept) co_return slept.error().with_context("waited for", what);
  co_return ok();
}

}  // namespace cove::lifecycle

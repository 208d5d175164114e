#include <algorithm>

#include "guest/agent_client.hpp"

namespace cove::guest {
namespace {

/// A deadline that a timeout of years does not overflow.
Instant later(Instant now, std::chrono::milliseconds delay) {
  const auto room = std::chrono::duration_cast<std::chrono::milliseconds>(Instant::max() - now);
  return delay < room ? now + delay : Instant::max();
}

}  // namespace

Error silent_agent(const std::string& what) {
  return {ErrorCode::kUnavailable,
          "the agent does not answer: it did not " + what + "; a stop of the sandbox ends it"};
}

CommandWait::CommandWait(const Link& link, const ExecSpec& spec) {
  if (!spec.timeout) return;
  overdue_ = later(later(link.runtime.clock.now(), *spec.timeout), spec.kill_grace);
}

Task<Result<void>> CommandWait::changed(const StreamOwner& stream, const CallContext& call) {
  const Clock& clock = stream.link()->runtime.clock;
  for (;;) {
    CallContext patience = call;
    bool ours = false;
    if (overdue_) {
      // Output that waited here for its reader is no silence: who waits now waits kEndTime.
      const Instant limit = cancelled_ ? later(clock.now(), kEndTime) : *overdue_;
      ours = !call.deadline || *call.deadline > limit;
      if (ours) patience.deadline = limit;
    }
    const Result<void> changed = co_await stream->changed(patience);
    if (changed || !ours || changed.error().code() != ErrorCode::kTimeout) co_return changed;
    if (cancelled_) co_return silent_agent("say within 10 s that the command ended");
    cancelled_ = true;
    const wire::Cancel cancel{.timed_out = true, .discard = false};
    stream.link()->connection->cancel(*stream, cancel);
  }
}

}  // namespace cove::guest

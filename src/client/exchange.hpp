/// A call that blocks: on a lane of its own where it gets one, else through the scheduler.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/async/spawn.hpp"
#include "client/guest_calls.hpp"
#include "client/host_calls.hpp"

namespace cove::client {

/// One exchange on a lane; none where there is no lane, or where it broke and the call may be asked
/// again. `Ask` as of ask_guest.
template <class T, class Ask>
std::optional<Result<T>> ask_on_lane(GuestLink& link, Repeat repeat, const CallContext& call,
                                     Ask& ask) {
  const std::unique_ptr<Lane> lane = link.lane(call);
  if (!lane) return std::nullopt;
  std::optional<Result<T>> result;
  lane->run([](Guest& guest, Ask& question, const CallContext& inner,
               std::optional<Result<T>>& answer) -> Task<void> {
    Task<Result<T>> task = question(guest, inner);
    answer.emplace(co_await task);
  }(lane->guest(), ask, call, result));
  if (*result) return result;
  lane->note_error(result->error());
  if (may_repeat(repeat, result->error())) return std::nullopt;
  return result;
}

/// Asks the guest, and blocks until it answered. No exception leaves.
template <class T, class Ask>
Result<T> exchange(GuestLink& link, Repeat repeat, const CallContext& call, Ask ask) {
  return run_here<T>(link, call, [&](const CallContext& inner) -> Result<T> {
    if (auto answer = ask_on_lane<T>(link, repeat, inner, ask)) return *std::move(answer);
    return base::sync_wait(link.scheduler(), ask_guest<T>(link, repeat, inner, ask));
  });
}

}  // namespace cove::client

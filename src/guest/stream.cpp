#include "guest/stream.hpp"

#include <algorithm>
#include <utility>

namespace cove::guest {

Task<Result<void>> Stream::changed(const CallContext& call) {
  const auto waiter = Waiter::make(scheduler_);
  waiters_.push_back(waiter);
  Result<void> result = co_await base::wait_bounded<void>(waiter, scheduler_, call);
  std::erase(waiters_, waiter);
  co_return result;
}

void Stream::notify() {
  for (const auto& waiter : std::exchange(waiters_, {})) waiter->complete(ok());
}

Stream::Piece Stream::take_arrived() {
  Piece piece = std::move(arrived.front());
  arrived.pop_front();
  return piece;
}

}  // namespace cove::guest

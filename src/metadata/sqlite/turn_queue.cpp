#include "metadata/sqlite/turn_queue.hpp"

namespace cove::metadata::sqlite {

Turn::~Turn() {
  if (queue_ != nullptr) queue_->pass_on();
}

Task<Result<Turn>> TurnQueue::wait(const CallContext& call) {
  const Waiter waiter = enqueue();
  if (waiter != nullptr) {
    COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(waiter, scheduler_, call));
  }
  co_return Turn(*this);
}

/// Null: it is the caller's turn already.
TurnQueue::Waiter TurnQueue::enqueue() {
  const std::lock_guard lock(mutex_);
  if (!taken_) {
    taken_ = true;
    return nullptr;
  }
  waiters_.push_back(base::Completion<Result<void>>::make(scheduler_));
  return waiters_.back();
}

void TurnQueue::pass_on() {
  const std::lock_guard lock(mutex_);
  while (!waiters_.empty()) {
    const Waiter next = std::move(waiters_.front());
    waiters_.pop_front();
    // False: its call ended while it waited, and it has no use for the turn.
    if (next->complete(ok())) return;
  }
  taken_ = false;
}

}  // namespace cove::metadata::sqlite

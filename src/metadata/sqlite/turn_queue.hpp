/// The line in which the calls of this process wait to write: one at a time, in the order they
/// came, without a thread.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"

namespace cove::metadata::sqlite {

class TurnQueue;

/// It is its owner's turn as long as this lives.
class Turn {
 public:
  explicit Turn(TurnQueue& queue) noexcept : queue_(&queue) {}
  Turn(Turn&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn();

 private:
  TurnQueue* queue_;
};

/// Safe from any thread.
class TurnQueue {
 public:
  explicit TurnQueue(Scheduler& scheduler) : scheduler_(scheduler) {}

  /// Waits for the turn. kTimeout or kCancelled: the call ended before.
  Task<Result<Turn>> wait(const CallContext& call);

 private:
  friend class Turn;
  using Waiter = std::shared_ptr<base::Completion<Result<void>>>;

  Waiter enqueue();
  void pass_on();

  Scheduler& scheduler_;
  std::mutex mutex_;  // guards all below
  bool taken_ = false;
  std::deque<Waiter> waiters_;
};

}  // namespace cove::metadata::sqlite

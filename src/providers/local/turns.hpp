/// Turns: calls for one volume, one after the other, in the order they came.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include <cove/call_context.hpp>
#include <cove/provider.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"

namespace cove::local {

/// All on the scheduler's own thread. Outlives every turn it gave.
class Turns {
 public:
  /// A turn; the next begins when it is destroyed.
  class Turn {
   public:
    Turn(Turns& turns, VolumeRef volume) : turns_(&turns), volume_(std::move(volume)) {}
    Turn(Turn&& other) noexcept
        : turns_(std::exchange(other.turns_, nullptr)), volume_(std::move(other.volume_)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->pass_on(volume_);
    }

   private:
    Turns* turns_;
    VolumeRef volume_;
  };

  /// Waits for the turn; kTimeout or kCancelled where the call ends before.
  Task<Result<Turn>> wait(Scheduler& scheduler, VolumeRef volume, const CallContext& call) {
    const auto [queue, first] = waiting_.try_emplace(volume);
    if (!first) {
      const auto waiter = base::Completion<Result<void>>::make(scheduler);
      queue->second.push_back(waiter);
      COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(waiter, scheduler, call));
    }
    co_return Turn(*this, std::move(volume));
  }

 private:
  using Waiter = std::shared_ptr<base::Completion<Result<void>>>;

  void pass_on(const VolumeRef& volume) {
    const auto queue = waiting_.find(volume);
    while (!queue->second.empty()) {
      const Waiter next = queue->second.front();
      queue->second.pop_front();
      if (next->complete(ok())) return;  // else it has given up waiting
    }
    waiting_.erase(queue);
  }

  std::map<VolumeRef, std::deque<Waiter>> waiting_;
};

}  // namespace cove::local

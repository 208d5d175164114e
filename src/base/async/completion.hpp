/// Completion<T>: a value that comes once, from any thread, to one awaiting coroutine.
///
///     auto completion = Completion<Result<int>>::make(scheduler);
///     start_something([completion](int n) { completion->complete(n); });
///     Result<int> result = co_await completion->wait();
#pragma once

#include <cassert>
#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

namespace cove::base {

template <class T>
class Completion : public std::enable_shared_from_this<Completion<T>> {
 public:
  static std::shared_ptr<Completion> make(Scheduler& scheduler) {
    return std::shared_ptr<Completion>(new Completion(scheduler));
  }

  /// Gives the value; only the first one counts. Returns whether this was it. The waiter resumes on
  /// the scheduler, never inside this call.
  bool complete(T value) {
    std::coroutine_handle<> waiter;
    {
      const std::lock_guard lock(mutex_);
      if (completed_) return false;
      completed_ = true;
      value_.emplace(std::move(value));
      waiter = std::exchange(waiter_, nullptr);
    }
    if (waiter) {
      scheduler_.post([self = this->shared_from_this(), waiter] { waiter.resume(); });
    }
    return true;
  }

  struct Awaiter {
    Completion& completion;

    bool await_ready() const {
      const std::lock_guard lock(completion.mutex_);
      return completion.completed_;
    }
    bool await_suspend(std::coroutine_handle<> waiter) const {
      const std::lock_guard lock(completion.mutex_);
      if (completion.completed_) return false;
      completion.waiter_ = waiter;
      return true;
    }
    T await_resume() const {
      const std::lock_guard lock(completion.mutex_);
      std::optional<T>& value = completion.value_;
      assert(value.has_value());
      return std::move(*value);
    }
  };

  /// Waits for the value; awaited once, by one coroutine.
  Awaiter wait() { return Awaiter{*this}; }

 private:
  explicit Completion(Scheduler& scheduler) : scheduler_(scheduler) {}

  Scheduler& scheduler_;
  std::mutex mutex_;
  std::optional<T> value_;
  std::coroutine_handle<> waiter_;
  bool completed_ = false;
};

/// Waits for a completion, or until the call's deadline (kTimeout) or stop (kCancelled). Whoever
/// completes it later finds it taken.
template <class T>
Task<Result<T>> wait_bounded(std::shared_ptr<Completion<Result<T>>> completion,
                             Scheduler& scheduler, const CallContext& call) {
  TimerId timer = TimerId::kNone;
  if (call.deadline) {
    timer = scheduler.call_at(*call.deadline, [completion] {
      completion->complete(Error(ErrorCode::kTimeout, "the call's deadline passed"));
    });
  }
  const std::stop_callback on_stop(call.stop, [completion] {
    completion->complete(Error(ErrorCode::kCancelled, "the call was cancelled"));
  });
  Result<T> result = co_await completion->wait();
  if (timer != TimerId::kNone) scheduler.cancel(timer);
  co_return result;
}

}  // namespace cove::base

/// Where coroutines meet the rest: starting one, and waiting for one from outside.
#pragma once

#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/waiting.hpp"

namespace cove::base {

namespace detail {

struct Detached {
  struct Promise {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    // A broken invariant with nobody left to tell; the tasks that come here catch what they can
    // answer.
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
  using promise_type = Promise;
};

inline Detached run_detached(std::shared_ptr<Task<void>> task) { co_await *task; }

}  // namespace detail

/// Runs `task` on the scheduler, owned by itself. From any thread.
inline void spawn(Scheduler& scheduler, Task<void> task) {
  auto owned = std::make_shared<Task<void>>(std::move(task));
  scheduler.post([owned]() mutable { detail::run_detached(std::move(owned)); });
}

/// Runs `task` on the scheduler and blocks the calling thread until it is done.
/// REQUIRES: not called on the scheduler's own thread.
template <class T>
T sync_wait(Scheduler& scheduler, Task<T> task) {
  struct State {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<T> value;
    std::exception_ptr exception;
    bool finished = false;
  };
  const auto state = std::make_shared<State>();
  spawn(scheduler, [](Task<T> inner, std::shared_ptr<State> shared) -> Task<void> {
    std::optional<T> value;
    std::exception_ptr exception;
    try {
      value.emplace(co_await inner);
    } catch (...) {
      exception = std::current_exception();
    }
    {
      const std::lock_guard lock(shared->mutex);
      shared->value = std::move(value);
      shared->exception = exception;
      shared->finished = true;
    }
    shared->done.notify_all();  // not while the lock is held: who wakes would only wait again
  }(std::move(task), state));
  std::unique_lock lock(state->mutex);
  const auto is_finished = [&] { return state->finished; };
  if (Waiting* const waiting = Waiting::current()) {
    while (!state->done.wait_for(lock, kWaitTurn, is_finished)) {
      lock.unlock();
      waiting->look();
      lock.lock();
    }
  } else {
    state->done.wait(lock, is_finished);
  }
  if (state->exception) std::rethrow_exception(state->exception);
  std::optional<T>& value = state->value;
  assert(value.has_value());
  return std::move(*value);
}

}  // namespace cove::base

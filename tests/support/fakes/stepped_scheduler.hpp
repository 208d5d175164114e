// A scheduler and clock for one thread: when nothing is left to run, time jumps to the next timer.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>

#include "base/async/spawn.hpp"

namespace cove::test {

class SteppedScheduler final : public Scheduler, public Clock {
 public:
  Instant now() const override { return now_; }

  void post(std::function<void()> work) override { posted_.push_back(std::move(work)); }

  TimerId call_at(Instant when, std::function<void()> work) override {
    const TimerId id{++last_timer_};
    timers_.emplace(std::pair(when, id), std::move(work));
    return id;
  }

  void cancel(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }

  /// Runs until `task` is done. Throws where it never would be.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> value;
    base::spawn(*this, keep(std::move(task), value));
    while (!value) step();
    return std::move(*value);
  }

 private:
  template <class T>
  static Task<void> keep(Task<T> task, std::optional<T>& value) {
    value.emplace(co_await task);
  }

  void step() {
    std::function<void()> work;
    if (!posted_.empty()) {
      work = std::move(posted_.front());
      posted_.pop_front();
    } else {
      auto next = timers_.extract(timers_.begin());
      if (next.empty()) throw std::runtime_error("the task waits for nothing");
      now_ = std::max(now_, next.key().first);
      work = std::move(next.mapped());
    }
    work();
  }

  Instant now_{std::chrono::hours(1)};
  std::uint64_t last_timer_ = 0;
  std::deque<std::function<void()>> posted_;
  std::map<std::pair<Instant, TimerId>, std::function<void()>> timers_;
};

}  // namespace cove::test

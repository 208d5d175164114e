/// EventLoop: the agent's one thread: descriptors (epoll), timers, and what workers hand back.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <sys/epoll.h>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Is told when its descriptor is ready. May remove itself or others while it is told.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_ready(std::uint32_t events) = 0;
};

class EventLoop {
 public:
  /// Names a timer: when it is due, and its number.
  using Timer = std::pair<SteadyTime, std::uint64_t>;

  static Result<std::unique_ptr<EventLoop>> open();

  /// Watches `fd` for `events`, level-triggered. False: the system has no room.
  bool add(int fd, std::uint32_t events, Watcher* watcher);
  void change(int fd, std::uint32_t events, Watcher* watcher);

  /// After this the watcher is not called again, also not for what is ready already.
  void remove(int fd, const Watcher* watcher);

  Timer call_at(SteadyTime when, std::function<void()> work);
  Timer call_after(std::chrono::milliseconds delay, std::function<void()> work);
  void cancel(const Timer& timer) { timers_.erase(timer); }

  /// Runs `work` after the events at hand; from the loop's thread.
  void defer(std::function<void()> work) { deferred_.push_back(std::move(work)); }

  /// Runs `work` on the loop; from any thread.
  void post(std::function<void()> work);

  /// Somebody waits for an answer: for a short time the loop spins before it sleeps, until relax().
  void hurry();
  void relax() noexcept { hurried_until_ = {}; }

  /// Runs until stop().
  void run();
  void stop() noexcept { running_ = false; }

 private:
  EventLoop() = default;
  int next_timeout() const;
  int look(int timeout);
  int spin();
  void run_events(int count);
  void run_timers();
  void run_deferred();
  void run_posted();

  base::UniqueFd epoll_;
  base::UniqueFd wake_;
  bool running_ = true;
  SteadyTime hurried_until_{};
  std::uint64_t next_timer_ = 1;
  std::map<Timer, std::function<void()>> timers_;
  std::deque<std::function<void()>> deferred_;
  std::vector<epoll_event> ready_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  ///< guarded by mutex_
};

}  // namespace cove::agent

#include "agent/loop/event_loop.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/system/spinning.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kEventsAtOnce = 256;
constexpr int kLongestWait = 60'000;  // ms

/// How long after a request the loop is in a hurry: whoever waits for longer does not feel a
/// wake-up.
constexpr std::chrono::milliseconds kHurry{10};

/// How long it then spins after each thing that came: a short command's next one comes within that.
constexpr std::chrono::microseconds kSpin{120};

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::open() {
  std::unique_ptr<EventLoop> loop(new EventLoop());
  loop->ready_.resize(kEventsAtOnce);
  loop->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop->epoll_) return base::system_error(errno, "epoll_create1");
  loop->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!loop->wake_) return base::system_error(errno, "eventfd");
  // No watcher = the wake-up descriptor.
  if (!loop->add(*loop->wake_, EPOLLIN, nullptr)) return base::system_error(errno, "epoll_ctl");
  return loop;
}

bool EventLoop::add(int fd, std::uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  return ::epoll_ctl(*epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLoop::change(int fd, std::uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  ::epoll_ctl(*epoll_, EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::remove(int fd, const Watcher* watcher) {
  ::epoll_ctl(*epoll_, EPOLL_CTL_DEL, fd, nullptr);
  for (auto& event : ready_) {
    if (event.data.ptr == watcher) event.events = 0;
  }
}

EventLoop::Timer EventLoop::call_at(SteadyTime when, std::function<void()> work) {
  const Timer timer{when, next_timer_++};
  timers_.emplace(timer, std::move(work));
  return timer;
}

EventLoop::Timer EventLoop::call_after(std::chrono::milliseconds delay,
                                       std::function<void()> work) {
  return call_at(std::chrono::steady_clock::now() + delay, std::move(work));
}

void EventLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  // Can only fail where the counter is full, and then the loop wakes anyway.
  [[maybe_unused]] const ssize_t written = ::write(*wake_, &one, sizeof one);
}

int EventLoop::next_timeout() const {
  if (!deferred_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - std::chrono::steady_clock::now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, kLongestWait));
}

void EventLoop::hurry() { hurried_until_ = std::chrono::steady_clock::now() + kHurry; }

int EventLoop::look(int timeout) {
  return ::epoll_wait(*epoll_, ready_.data(), static_cast<int>(ready_.size()), timeout);
}

/// How much is ready within a short time; not past what a timer or the end of the hurry says.
int EventLoop::spin() {
  const SteadyTime began = std::chrono::steady_clock::now();
  if (began >= hurried_until_ || !base::is_spinning_worth_it()) return 0;
  SteadyTime end = began + kSpin;
  if (!timers_.empty()) end = std::min(end, timers_.begin()->first.first);
  int count = look(0);
  while (count == 0 && std::chrono::steady_clock::now() < end && base::yield_spinning()) {
    count = look(0);
  }
  return count;
}

void EventLoop::run() {
  while (running_) {
    int count = deferred_.empty() ? spin() : 0;
    if (count == 0) count = look(next_timeout());
    if (count > 0) run_events(count);
    run_timers();
    run_deferred();
  }
}

void EventLoop::run_events(int count) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const epoll_event event = ready_[i];
    if (event.events == 0) continue;  // removed meanwhile
    if (event.data.ptr == nullptr) {
      run_posted();
    } else {
      static_cast<Watcher*>(event.data.ptr)->on_ready(event.events);
    }
  }
}

void EventLoop::run_timers() {
  const SteadyTime now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }
}

void EventLoop::run_deferred() {
  // What is added meanwhile runs too, so that it is sent in this round.
  while (!deferred_.empty()) {
    const auto work = std::move(deferred_.front());
    deferred_.pop_front();
    work();
  }
}

void EventLoop::run_posted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t bytes = ::read(*wake_, &count, sizeof count);
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (auto& each : work) each();
}

}  // namespace cove::agent

#include "base/async/io_loop.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/quiet_thread.hpp"
#include "base/async/waiting.hpp"
#include "base/system/spinning.hpp"
#include "base/system/system_clock.hpp"

namespace cove::base {
namespace {

/// What Asio's timers count by: CLOCK_BOOTTIME.
struct BootClock : BootTime {
  using time_point = std::chrono::time_point<BootClock, BootTime::duration>;
  static time_point now() { return time_point(SystemClock().now().time_since_epoch()); }
};
using Timer = boost::asio::basic_waitable_timer<BootClock>;

/// How long who drives a loop spins before it sleeps: a small answer comes within that time.
constexpr std::chrono::microseconds kSpin{50};

using Steady = std::chrono::steady_clock;

}  // namespace

class IoLoop::Impl {
 public:
  explicit Impl(const Clock* its_clock) : clock(its_clock) {
    try {
      // Asio opens its descriptors for the first timer: here, where that they are used up can still
      // be told, not in the middle of the loop.
      const Timer first(context);
    } catch (const boost::system::system_error& error) {
      throw std::system_error(error.code(), "start a loop for I/O");
    }
  }

  void run() {
    context.run();
    // Timers hold what their owners gave them; they go on the thread that ran them, and not under
    // the mutex, which what they hold may want when it goes.
    std::unordered_map<TimerId, Entry> gone;
    {
      const std::lock_guard lock(mutex);
      gone.swap(timers);
    }
    gone.clear();
    {
      const std::lock_guard lock(mutex);
      finished = true;
    }
    done.notify_all();
  }

  TimerId call_at(Instant when, std::function<void()> work) {
    const TimerId id{next_timer.fetch_add(1)};
    const Duration behind = lag();
    const std::lock_guard lock(mutex);
    Entry& entry = timers.try_emplace(id, context, when, std::move(work)).first->second;
    arm(id, entry, behind);
    return id;
  }

  void clock_moved() {
    const Duration behind = lag();
    const std::lock_guard lock(mutex);
    for (auto& [id, entry] : timers) arm(id, entry, behind);
  }

  void cancel(TimerId id) {
    std::function<void()> gone;  // not under the mutex: see run()
    const std::lock_guard lock(mutex);
    const auto found = timers.find(id);
    if (found == timers.end()) return;
    gone = std::move(found->second.work);
    timers.erase(found);
  }

  /// A timer, and what it is for.
  struct Entry {
    Entry(boost::asio::io_context& context, Instant its_when, std::function<void()> its_work)
        : timer(context), when(its_when), work(std::move(its_work)) {}
    Timer timer;
    const Instant when;
    std::function<void()> work;
  };

  /// What this machine's clock is ahead of the host's. Asks the host: not under the mutex.
  Duration lag() const {
    return clock == nullptr ? Duration(0) : SystemClock().now() - clock->now();
  }

  /// Waits for an entry's time (anew), under the mutex.
  void arm(TimerId id, Entry& entry, Duration behind) {
    entry.timer.expires_at(BootClock::time_point((entry.when + behind).time_since_epoch()));
    entry.timer.async_wait([this, id](const boost::system::error_code& error) {
      if (!error) fire(id);
    });
  }

  /// Runs what comes until `done`, and asks in between whether its thread may wait on.
  void run_asked(Waiting& waiting, const std::function<bool()>& is_over) {
    auto look_at = Steady::now() + kWaitTurn;
    while (!is_over()) {
      context.run_one_until(look_at);
      const auto now = Steady::now();
      if (now < look_at) continue;
      waiting.look();
      look_at = now + kWaitTurn;
    }
  }

  void fire(TimerId id) {
    const Duration behind = lag();
    std::function<void()> work;
    {
      const std::lock_guard lock(mutex);
      const auto found = timers.find(id);
      // Erased by cancel(): it must not run, even where the wait had ended already.
      if (found == timers.end()) return;
      if (clock != nullptr && SystemClock().now() - behind < found->second.when) {
        // The host's clock goes slower than this machine's.
        arm(id, found->second, behind);
        return;
      }
      work = std::move(found->second.work);
      timers.erase(found);
    }
    work();
  }

  const Clock* const clock;
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_running{
      context.get_executor()};
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  std::atomic<std::uint64_t> next_timer{1};
  std::unordered_map<TimerId, Entry> timers;
  std::thread thread;
  std::atomic<std::thread::id> thread_id;
};

IoLoop::IoLoop(const Clock* clock) : impl_(std::make_shared<Impl>(clock)) {
  impl_->thread = start_quiet_thread("cove-io", [impl = impl_] { impl->run(); });
  impl_->thread_id = impl_->thread.get_id();
}

IoLoop::IoLoop(Driven, const Clock* clock) : impl_(std::make_shared<Impl>(clock)) {}

void IoLoop::drive(const std::function<bool()>& done) noexcept {
  impl_->thread_id = std::this_thread::get_id();
  const auto began = Steady::now();
  bool spins = is_spinning_worth_it();
  while (spins && !done() && Steady::now() < began + kSpin) {
    if (impl_->context.poll_one() == 0) spins = yield_spinning();
  }
  if (Waiting* const waiting = Waiting::current()) {
    impl_->run_asked(*waiting, done);
  } else {
    while (!done()) impl_->context.run_one();
  }
  impl_->thread_id = std::thread::id();
}

void IoLoop::run_ready() noexcept {
  impl_->thread_id = std::this_thread::get_id();
  impl_->context.poll();
  impl_->thread_id = std::thread::id();
}

IoLoop::~IoLoop() {
  if (!impl_->thread.joinable()) return;
  impl_->context.stop();
  if (on_thread()) {
    impl_->thread.detach();
  } else {
    impl_->thread.join();
  }
}

void IoLoop::post(std::function<void()> work) {
  boost::asio::post(impl_->context, std::move(work));
}

TimerId IoLoop::call_at(Instant when, std::function<void()> work) {
  return impl_->call_at(when, std::move(work));
}

void IoLoop::cancel(TimerId timer) { impl_->cancel(timer); }

void IoLoop::clock_moved() { impl_->clock_moved(); }

bool IoLoop::on_thread() const noexcept { return std::this_thread::get_id() == impl_->thread_id; }

boost::asio::io_context& IoLoop::context() noexcept { return impl_->context; }

bool IoLoop::stop(std::chrono::milliseconds bound) {
  if (!impl_->thread.joinable()) return true;
  impl_->context.stop();
  if (on_thread()) {
    impl_->thread.detach();
    return true;
  }
  {
    std::unique_lock lock(impl_->mutex);
    if (!impl_->done.wait_for(lock, bound, [this] { return impl_->finished; })) {
      impl_->thread.detach();
      return false;
    }
  }
  impl_->thread.join();
  return true;
}

}  // namespace cove::base

#include "base/async/io_loop.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/async/quiet_thread.hpp"
#include "base/system/system_clock.hpp"

namespace cove::base {
namespace {

/// What Asio's timers count by: CLOCK_BOOTTIME.
struct BootClock : BootTime {
  using time_point = std::chrono::time_point<BootClock, BootTime::duration>;
  static time_point now() { return time_point(SystemClock().now().time_since_epoch()); }
};
using Timer = boost::asio::basic_waitable_timer<BootClock>;

}  // namespace

class IoLoop::Impl {
 public:
  void run() {
    context.run();
    {
      // Timers hold what their owners gave them; they go on the thread that ran them.
      const std::lock_guard lock(mutex);
      timers.clear();
      finished = true;
    }
    done.notify_all();
  }

  TimerId call_at(Instant when, std::function<void()> work) {
    const TimerId id{next_timer.fetch_add(1)};
    const std::lock_guard lock(mutex);
    Timer& timer = timers.try_emplace(id, context).first->second;
    timer.expires_at(BootClock::time_point(when.time_since_epoch()));
    timer.async_wait([this, id, work = std::move(work)](const boost::system::error_code& error) {
      {
        const std::lock_guard relock(mutex);
        // Erased by cancel(): it must not run, even where the wait had ended already.
        if (timers.erase(id) == 0 || error) return;
      }
      work();
    });
    return id;
  }

  void cancel(TimerId id) {
    const std::lock_guard lock(mutex);
    timers.erase(id);
  }

  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_running{
      context.get_executor()};
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  std::atomic<std::uint64_t> next_timer{1};
  std::unordered_map<TimerId, Timer> timers;
  std::thread thread;
  std::thread::id thread_id;
};

IoLoop::IoLoop() : impl_(std::make_shared<Impl>()) {
  impl_->thread = start_quiet_thread("cove-io", [impl = impl_] { impl->run(); });
  impl_->thread_id = impl_->thread.get_id();
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

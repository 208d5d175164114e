/// IoLoop: a Scheduler over Boost.Asio. A Cove has one with a thread of its own; a call that blocks
/// may have one that its caller's thread drives.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <cove/scheduler.hpp>

namespace boost::asio {
class io_context;
}

namespace cove::base {

class IoLoop final : public Scheduler {
 public:
  /// Of a loop without a thread: what is posted runs when somebody drives it.
  struct Driven {};

  /// Starts the thread. Timers go by `clock`, which outlives this; null = CLOCK_BOOTTIME.
  explicit IoLoop(const Clock* clock = nullptr);
  IoLoop(Driven driven, const Clock* clock);

  /// As stop() without a bound.
  ~IoLoop() override;
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  void post(std::function<void()> work) override;
  TimerId call_at(Instant when, std::function<void()> work) override;
  void cancel(TimerId timer) override;

  /// The clock jumped ahead: timers whose time has come run now. From any thread.
  void clock_moved();

  /// Runs what is due on the calling thread, which is the loop's meanwhile, until `done` says so.
  /// REQUIRES: it is a driven one, and nobody else drives it.
  void drive(const std::function<bool()>& done) noexcept;

  /// Of a driven loop: runs what is due now, without waiting. REQUIRES: as of drive.
  void run_ready() noexcept;

  /// True on the loop's own thread, where nothing may block.
  bool on_thread() const noexcept;

  /// For the sockets of src/guest, which run on this loop.
  boost::asio::io_context& context() noexcept;

  /// Ends the thread after what runs now; what is still posted is dropped. False: it did not end
  /// within `bound` (a callback of the host is stuck), and was left behind with its own state.
  bool stop(std::chrono::milliseconds bound);

 private:
  class Impl;
  std::shared_ptr<Impl>
      impl_;  // shared with the thread, which may outlive this where a callback is stuck
};

}  // namespace cove::base

/// Who is in a callback of the host, and whether one may still begin: a host whose runtime is
/// about to go (an interpreter at its exit) can end them for good.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cove::capi {

/// One for the process. Any thread.
class CallbackGate {
 public:
  /// Never destroyed: threads of Cove may be in it until the process is gone.
  static CallbackGate& instance() noexcept;

  /// Where callbacks were ended, returns on the thread that ended them alone; every other one
  /// stands still from here on.
  void enter() noexcept;
  void leave() noexcept;

  /// Lets no callback begin any more and waits for those that run. False: one still does.
  bool end(std::chrono::milliseconds bound);
  bool ended() const noexcept { return ended_.load(); }

 private:
  CallbackGate() = default;
  static void begin_child() noexcept;

  std::atomic<int> inside_{0};  // threads, each counted once
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  // of the wait alone
  std::condition_variable left_;
};

}  // namespace cove::capi

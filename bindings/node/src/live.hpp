/// What an environment must end before it may go: its Coves, its transfers, its threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "library.hpp"

namespace cove_node {

/// A Cove, shared by its JavaScript object and the calls that are pending.
struct CoveHandle {
  CoveHandle(LibraryPtr its_library, cove* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  CoveHandle(const CoveHandle&) = delete;
  CoveHandle& operator=(const CoveHandle&) = delete;
  ~CoveHandle() { library->cove_free(raw); }

  LibraryPtr library;
  cove* raw;
};

/// Something on a thread of ours that may wait for JavaScript.
class Abandonable {
 public:
  virtual ~Abandonable() = default;

  /// Any thread; the wait ends, and so does the work, soon after.
  virtual void abandon() noexcept = 0;
};

/// When such a wait must end: the call's time limit does not end it.
using Deadline = std::chrono::steady_clock::time_point;

/// 0 = never, as in C.
inline Deadline deadline_after(std::uint64_t timeout_ms) {
  constexpr std::uint64_t kLongest = 1000ULL * 60 * 60 * 24 * 365;
  if (timeout_ms == 0 || timeout_ms > kLongest) return Deadline::max();
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
}

/// Waits for `is_ready` on `changed`. False: the deadline came first.
template <class Ready>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                Deadline deadline, Ready is_ready) {
  if (deadline != Deadline::max()) return changed.wait_until(lock, deadline, is_ready);
  changed.wait(lock, is_ready);  // the largest time cannot be waited for
  return true;
}

class Live : public std::enable_shared_from_this<Live> {
 public:
  void add(const std::shared_ptr<CoveHandle>& cove);
  void add(const std::shared_ptr<Abandonable>& work);

  /// Runs `work` on a thread of its own, with all signals blocked, for what only has a form that
  /// waits. False where there can be none: too many threads, or everything has ended.
  bool start_thread(std::function<void()> work);

  /// True once end_all() began: JavaScript may not run again.
  bool has_ended() noexcept;

  /// Ends everything and waits for that, at most about half a minute. May be repeated. Commands
  /// that ignore SIGTERM take their grace time.
  void end_all() noexcept;

 private:
  struct Task;
  static void* run(void* task);
  void finish_thread() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::size_t threads_ = 0;
  std::vector<std::weak_ptr<CoveHandle>> coves_;
  std::vector<std::weak_ptr<Abandonable>> works_;
};

}  // namespace cove_node

/// The seam that runs Cove's own code: one thread at a time, in the order posted.
///
/// A real Cove has one I/O thread behind it; the simulation orders everything by its seed.
#pragma once

#include <cstdint>
#include <functional>

#include <cove/clock.hpp>

namespace cove {

/// Names a timer of one scheduler; 0 is none.
enum class TimerId : std::uint64_t { kNone = 0 };

/// Runs Cove's own code.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Runs `work` once on the scheduler, after what was posted before it. Never inline. From any
  /// thread. `work` must not throw and must not block.
  virtual void post(std::function<void()> work) = 0;

  /// Runs `work` once at or after `when`; at once where that has passed. From any thread.
  virtual TimerId call_at(Instant when, std::function<void()> work) = 0;

  /// Takes a timer back; harmless after it ran or when unknown. From the scheduler's own thread
  /// it is certain that `work` does not run afterwards; from another it may be running now.
  virtual void cancel(TimerId timer) = 0;
};

}  // namespace cove

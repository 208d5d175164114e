/// Time as Cove sees it. Durations are std::chrono; an Instant is this machine's time since boot,
/// which also runs while the machine is suspended (CLOCK_BOOTTIME) and never goes back.
/// Times kept in records are the metadata store's own (StoreTime), never a host's.
#pragma once

#include <chrono>
#include <cstdint>

namespace cove {

/// Names the time line of Instant; it is not itself asked for the time: Clock is.
struct BootTime {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootTime>;
  static constexpr bool is_steady = true;
};

/// A span of time on this machine.
using Duration = std::chrono::nanoseconds;
/// A time on this machine, since its boot.
using Instant = BootTime::time_point;

/// Milliseconds since 1970 by the metadata store's clock.
using StoreTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// The seam through which all of Cove reads time. Safe from any thread; never fails.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The time since boot. It never goes back.
  virtual Instant now() const = 0;

  /// The calendar's time, for stores that have no clock of their own. It may jump. By default this
  /// machine's.
  virtual StoreTime wall() const {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace cove

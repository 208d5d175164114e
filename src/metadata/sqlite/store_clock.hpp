/// The store's time: this machine's wall clock, except that it never goes back.
///
/// It is kept as an offset to the time since boot (CLOCK_BOOTTIME). The offset only grows while the
/// machine runs, so when somebody sets the wall clock back the store's time goes on at the right
/// pace from where it was, instead of standing still, and nothing that waits for it waits for ever.
/// The file keeps the offset, so that all processes agree, and the newest time, for the next boot.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <cove/clock.hpp>
#include <cove/result.hpp>

namespace cove::metadata::sqlite {

/// Both in milliseconds.
struct ClockReading {
  std::int64_t wall = 0;  ///< since 1970
  std::int64_t boot = 0;  ///< since boot
};

/// Reads both times of a clock; the wall first. A pause between the two makes the offset too small,
/// which a later reading corrects; the other way round it would be too large for ever.
ClockReading read_clocks(const Clock& clock);

/// Names this boot of the machine; empty where the kernel does not say.
Result<std::string> read_boot_id();

/// What one moment is by the store.
struct StoreMoment {
  std::int64_t time = 0;    ///< milliseconds since 1970
  std::int64_t offset = 0;  ///< time - boot
};

/// Safe from any thread.
class StoreClock {
 public:
  explicit StoreClock(std::function<ClockReading()> read) : read_(std::move(read)) {}

  /// Not before any moment that was given or learned.
  StoreMoment now();

  /// Another process of this boot has this offset.
  void learn_offset(std::int64_t offset);

  /// Before this boot the store gave this time.
  void learn_time(std::int64_t time);

 private:
  std::function<ClockReading()> read_;
  std::atomic<std::int64_t> offset_{std::numeric_limits<std::int64_t>::min()};
};

}  // namespace cove::metadata::sqlite

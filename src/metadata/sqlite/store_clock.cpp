#include "metadata/sqlite/store_clock.hpp"

#include <array>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::metadata::sqlite {
ClockReading read_clocks(const Clock& clock) {
  ClockReading reading;
  reading.wall = clock.wall().time_since_epoch().count();
  const auto boot = clock.now().time_since_epoch();
  reading.boot = std::chrono::floor<std::chrono::milliseconds>(boot).count();
  return reading;
}

Result<std::string> read_boot_id() {
  const base::UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT) return base::system_error(errno, "read the id of this boot");
  if (!file) return std::string();
  std::array<char, 36> text{};  // a UUID
  const ssize_t got = ::read(*file, text.data(), text.size());
  return got == static_cast<ssize_t>(text.size()) ? std::string(text.data(), text.size())
                                                  : std::string();
}

StoreMoment StoreClock::now() {
  const ClockReading reading = read_();
  learn_offset(reading.wall - reading.boot);
  const std::int64_t offset = offset_.load();
  return {reading.boot + offset, offset};
}

void StoreClock::learn_offset(std::int64_t offset) {
  std::int64_t known = offset_.load();
  while (known < offset && !offset_.compare_exchange_weak(known, offset)) {
  }
}

void StoreClock::learn_time(std::int64_t time) { learn_offset(time - read_().boot); }

}  // namespace cove::metadata::sqlite

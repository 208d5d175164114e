#include "base/system/system_clock.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <sys/random.h>

#include "base/text/hex.hpp"

namespace cove::base {

Instant SystemClock::now() const {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

void SystemIds::fill(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      // Only a kernel without getrandom or a forbidden call ends here; predictable names would let
      // one user's volume be guessed by another, so there is nothing to go on with.
      std::abort();
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::string random_name(IdSource& ids) {
  std::array<std::byte, 16> bits{};
  ids.fill(bits);
  return to_hex(bits);
}

}  // namespace cove::base

#include "base/system/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace cove::base {

void fill_standard_descriptors() noexcept {
  int fd = 0;
  do {
    // Reading is at its end then, and writing still fails.
    fd = ::open("/dev/null", O_RDONLY);  // NOLINT(android-cloexec-open): children inherit these
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace cove::base

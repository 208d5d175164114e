#include "base/system/unique_fd.hpp"

#include <cerrno>

#include <unistd.h>

namespace cove::base {

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) {
    const int saved = errno;
    ::close(fd_);  // EINTR included: Linux has closed it then, and a repeat could hit another's
    errno = saved;
  }
  fd_ = fd;
}

}  // namespace cove::base

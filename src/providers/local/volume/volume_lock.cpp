#include "providers/local/volume/volume_lock.hpp"

#include <cerrno>

#include <fcntl.h>

#include "base/system/system_error.hpp"

namespace cove::local {

using base::system_error;

namespace {

struct flock byte_of(LockRole role) {
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(role);
  range.l_len = 1;
  return range;
}

}  // namespace

Result<VolumeLock> VolumeLock::open(int volume_directory, Missing missing) {
  const int create = missing == Missing::kCreate ? O_CREAT : 0;
  VolumeLock lock;
  lock.fd_.reset(::openat(volume_directory, "lock",
                          O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | create, 0600));
  if (!lock.fd_) return system_error(errno, "open the lock of a volume");
  return lock;
}

Result<bool> VolumeLock::try_take(LockRole role) const {
  struct flock range = byte_of(role);
  if (::fcntl(*fd_, F_OFD_SETLK, &range) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return system_error(errno, "lock a volume");
}

Result<bool> VolumeLock::is_held_elsewhere(LockRole role) const {
  struct flock range = byte_of(role);
  if (::fcntl(*fd_, F_OFD_GETLK, &range) != 0)
    return system_error(errno, "ask for a volume's lock");
  return range.l_type != F_UNLCK;
}

}  // namespace cove::local

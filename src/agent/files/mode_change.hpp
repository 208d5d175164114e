/// Changes modes of what is held open, whatever its kind.
#pragma once

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cove::agent {

/// Sets the permission bits of what the O_PATH descriptor `object` is. False: errno says why.
inline bool change_mode(int object, mode_t mode) {
  // SAFETY: the magic link leads to the very object that is held open.
  const std::string link = "/proc/self/fd/" + std::to_string(object);
  if (::fchmodat(AT_FDCWD, link.c_str(), mode, 0) == 0) return true;
  if (errno != ENOENT) return false;
  constexpr long kFchmodat2 = 452;  // where there is no /proc: Linux 6.6 and later
  return ::syscall(kFchmodat2, object, "", mode, AT_EMPTY_PATH) == 0;
}

}  // namespace cove::agent

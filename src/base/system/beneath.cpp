#include "base/system/beneath.hpp"

#include <cerrno>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cove::base {

BeneathResult open_beneath(int root, const char* path, int flags, unsigned mode,
                           unsigned long long resolve) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned long long>(flags) | O_CLOEXEC;
  how.mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
  // A rename anywhere on the machine can make the kernel give up a `..` walk with EAGAIN; bounded,
  // since code inside the sandbox can rename for ever.
  for (int attempt = 0; attempt < 128; ++attempt) {
    // SAFETY: `how` and `path` live through the call; the result is a new descriptor of ours.
    const long fd = ::syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0) return {UniqueFd(static_cast<int>(fd)), 0};
    const bool is_final = errno != EINTR && (errno != EAGAIN || (resolve & RESOLVE_CACHED) != 0);
    if (is_final) return {UniqueFd(), errno};
  }
  return {UniqueFd(), EAGAIN};
}

BeneathResult open_in_volume(int root, const char* path, int flags, unsigned mode) noexcept {
  // openat2 refuses O_PATH together with flags that O_PATH would ignore.
  const int guarded = (flags & O_PATH) != 0 ? flags : flags | O_NONBLOCK | O_NOCTTY;
  return open_beneath(root, path, guarded, mode, RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

}  // namespace cove::base

/// File systems with little room.
#pragma once

#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"

namespace cove::test {

/// Makes a tmpfs of `size` ("4m"), mounted nowhere. Only root can. No descriptor: this user or
/// kernel cannot.
inline base::UniqueFd make_small_disk(const std::string& size) {
  const base::UniqueFd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context || ::fsconfig(*context, FSCONFIG_SET_STRING, "size", size.c_str(), 0) != 0 ||
      ::fsconfig(*context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return base::UniqueFd();
  }
  return base::UniqueFd(::fsmount(*context, FSMOUNT_CLOEXEC, 0));
}

/// A path that leads to it, for this process.
inline std::string path_of(const base::UniqueFd& disk) {
  return "/proc/self/fd/" + std::to_string(*disk);
}

inline unsigned long free_blocks(const base::UniqueFd& disk) {
  struct statvfs status{};
  return ::fstatvfs(*disk, &status) == 0 ? status.f_bfree : 0;
}

/// Mounts one where only this process and its children see it. False: this machine lets nobody.
inline bool mount_small_disk(const std::string& directory, const std::string& size) {
  const int alone = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
  if (::unshare(alone) != 0) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const std::string options = "size=" + size + ",mode=0777";
  return ::mount("cove-test", directory.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) ==
         0;
}

/// Writes a file until there is no room left.
inline void fill_disk(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string block(4096, 'f');
  while (::write(*file, block.data(), block.size()) > 0) {
  }
}

}  // namespace cove::test

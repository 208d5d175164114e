/// A file system with little room, mounted nowhere; only root can make one.
#pragma once

#include <string>

#include <sys/mount.h>
#include <sys/statvfs.h>

#include "base/system/unique_fd.hpp"

namespace cove::test {

/// Makes a tmpfs of `size` ("4m"). No descriptor: this user or kernel cannot.
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

}  // namespace cove::test

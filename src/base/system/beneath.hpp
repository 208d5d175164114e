/// Opens paths so that they cannot lead out of a directory: openat2, enforced by the kernel.
#pragma once

#include <string>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::base {

/// Opens `path` beneath the directory `root` with `flags` (O_CLOEXEC is added) and `mode`, by
/// RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | `resolve`. The system's error number comes back where
/// it fails (EXDEV: it led out); EAGAIN of a racing rename is tried again, that of RESOLVE_CACHED
/// not.
struct BeneathResult {
  UniqueFd fd;
  int error_number = 0;
};
BeneathResult open_beneath(int root, const char* path, int flags, unsigned mode = 0,
                           unsigned long long resolve = 0) noexcept;

/// The stricter rule for what the host opens in a volume: also no symlink and no other file system.
BeneathResult open_in_volume(int root, const char* path, int flags, unsigned mode = 0) noexcept;

}  // namespace cove::base

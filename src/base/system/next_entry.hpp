/// Reading a directory that is open.
#pragma once

#include <cerrno>

#include <dirent.h>

namespace cove::base {

/// The next entry, valid until the one after it is asked for; null at the end, where errno is 0,
/// and after a failure, where it is not. REQUIRES: one thread at a time reads this stream.
inline const dirent* next_entry(DIR* stream) noexcept {
  errno = 0;
  return ::readdir(stream);  // NOLINT(concurrency-mt-unsafe): unsafe only where a stream is shared
}

}  // namespace cove::base

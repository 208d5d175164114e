/// The kernel's locks on one volume: open-file-description locks on three bytes of its `lock` file.
///
/// They belong to the open file, not to a process: who inherits the descriptor holds the lock too,
/// and the kernel frees it when the last holder is gone, however it went. A held lock is therefore
/// proof that something lives; a free one is proof that nothing does.
#pragma once

#include <cstdint>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

enum class LockRole : std::uint8_t {
  kInstance = 0,   ///< held by bubblewrap and the agent for as long as they live
  kOperation = 1,  ///< held while a start, stop, delete or open is at work: one at a time
  kOffline = 2,    ///< held by who has the volume open while nothing runs
};

class VolumeLock {
 public:
  VolumeLock() = default;

  /// Opens the lock file of a volume's directory; with `create`, makes it. kNotFound.
  enum class Missing : bool { kRefuse, kCreate };
  static Result<VolumeLock> open(int volume_directory, Missing missing = Missing::kRefuse);

  /// Takes a role where nobody else has it; never waits. Given back when this and every inherited
  /// copy of its descriptor are closed.
  Result<bool> try_take(LockRole role) const;

  /// True where another open file has the role. Changes nothing.
  Result<bool> is_held_elsewhere(LockRole role) const;

  int fd() const noexcept { return *fd_; }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

 private:
  base::UniqueFd fd_;
};

}  // namespace cove::local

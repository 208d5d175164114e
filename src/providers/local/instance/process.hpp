/// Processes of this machine that are not mistaken for one another: by pidfd, and by pid together
/// with start time. A recycled pid is never signalled.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <sys/types.h>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

/// What /proc/<pid>/stat says of a process.
struct ProcessFacts {
  char state = '?';
  pid_t parent = 0;
  std::uint64_t start_time = 0;  ///< clock ticks since boot
};

/// None where there is no such process. An error says that it could not be looked at (no descriptor
/// is left): it must not be taken for gone then. As of what follows.
Result<std::optional<ProcessFacts>> facts_of(pid_t pid);

class Process {
 public:
  /// The process that has `pid` and started then, while it lives; none where it has ended.
  static Result<std::optional<Process>> find(pid_t pid, std::uint64_t start_time);

  /// The process behind a pidfd, which stays the caller's; none where it has ended.
  static Result<std::optional<Process>> behind(int pidfd);

  pid_t pid() const noexcept { return pid_; }

  /// True where it was sent; false where the process has ended.
  bool send(int signal) const noexcept;

  /// True once it has ended; waits for that at most `bound`.
  bool has_ended(std::chrono::milliseconds bound) const noexcept;

  /// Its children that live.
  Result<std::vector<Process>> children() const;

  /// True where it has a child that lives, or has ended and was not reaped yet.
  Result<bool> has_children() const;

  /// Stops it and waits (briefly) until it has, so that it starts no more children.
  void freeze() const;

 private:
  Process(pid_t pid, base::UniqueFd fd) : pid_(pid), fd_(std::move(fd)) {}

  pid_t pid_ = 0;
  base::UniqueFd fd_;
};

}  // namespace cove::local

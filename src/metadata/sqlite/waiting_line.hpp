/// The line in which processes wait to write, so that none of them starves.
///
/// A file beside the database, empty for ever. Who finds the database busy locks the one byte of it
/// whose number is the time of coming; whoever sees an older lock than its own waits. The kernel
/// lets go of the locks of a process that dies. The line is for fairness only: SQLite's own lock
/// is what keeps writers apart, so a mistake here costs time and never data.
#pragma once

#include <cstdint>
#include <string>

#include <cove/clock.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::metadata::sqlite {

/// One place in the line for its owner. Calls come one at a time, from any thread.
class WaitingLine {
 public:
  /// Opens the file, and makes it with mode 0600 where there is none.
  static Result<WaitingLine> open(const std::string& path);

  /// True where nobody is ahead: nobody who came before this one's join(), or without it, nobody at
  /// all. A place that is older than 5 s no longer counts: its owner is stopped, or it died
  /// and a child that it forked has kept the lock.
  Result<bool> is_first(Instant now) const;

  /// Takes a place; keeps the one it has.
  Result<void> join(Instant now);

  /// Gives the place up; harmless without one.
  void leave() noexcept;

 private:
  explicit WaitingLine(base::UniqueFd file) : file_(std::move(file)) {}

  base::UniqueFd file_;
  std::int64_t place_ = 0;  ///< the locked byte; 0 = none
};

}  // namespace cove::metadata::sqlite

/// The terminal of this program, handed over to a command inside.
#pragma once

#include <optional>

#include <cove/exec.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::cli {

/// The size of the terminal on `fd`; none where it is none, or says none.
std::optional<TerminalSize> terminal_size(int fd);

/// While it lives, the terminal on `fd` passes on every key as it is, Ctrl-C too, and shows output
/// as it comes. It is as before again however this program ends, SIGKILL aside. At most one at a
/// time.
class RawTerminal {
 public:
  /// `fd` is borrowed, and a terminal.
  static Result<RawTerminal> enter(int fd);

  RawTerminal(RawTerminal&& other) noexcept = default;
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

  /// Readable after the window's size changed.
  int resized_fd() const noexcept { return *resized_read_; }

 private:
  RawTerminal() = default;

  base::UniqueFd resized_read_;  // unset = moved from
  base::UniqueFd resized_write_;
};

/// Makes a terminal that is raw as it was before. May be called by a signal handler.
void restore_terminal() noexcept;

}  // namespace cove::cli

#include "agent/exec/terminal.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

Error no_terminal(int number) {
  return Error(ErrorCode::kUnsupported, "this sandbox has no terminal to give")
      .with_cause(base::system_error(number, "open a terminal"));
}

}  // namespace

Result<Terminal> open_terminal(TerminalSize size) {
  Terminal terminal;
  terminal.reader.reset(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!terminal.reader) return no_terminal(errno);
  int locked = 0;
  if (::ioctl(*terminal.reader, TIOCSPTLCK, &locked) != 0) return no_terminal(errno);
  // By its other end, not by a path that the sandbox could have changed.
  terminal.command.reset(::ioctl(*terminal.reader, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.command) return no_terminal(errno);
  terminal.writer.reset(::fcntl(*terminal.reader, F_DUPFD_CLOEXEC, 3));
  if (!terminal.writer) return base::system_error(errno, "open a terminal");
  COVE_TRY_VOID(resize_terminal(*terminal.reader, size));
  return terminal;
}

Result<void> resize_terminal(int fd, TerminalSize size) {
  winsize window{};
  window.ws_row = size.rows;
  window.ws_col = size.columns;
  if (::ioctl(fd, TIOCSWINSZ, &window) != 0) return base::system_error(errno, "resize a terminal");
  return ok();
}

}  // namespace cove::agent

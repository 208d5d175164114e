#include "cli/machine/raw_terminal.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::cli {
namespace {

/// What ends a program at once, where nothing else handles it.
constexpr int kFatal[] = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// A handler can reach nothing but globals; only this program's one RawTerminal uses them.
std::atomic<int> g_terminal{-1};
std::atomic<int> g_resized{-1};
termios g_before{};  // written before g_terminal says that it is there
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_fatal(int signal) {
  // SAFETY: SA_RESETHAND made it the default again, so this ends the program.
  restore_terminal();
  ::raise(signal);
}

extern "C" void on_resized(int) {
  const int saved = errno;
  const char byte = 1;
  // Full is fine: somebody is already told.
  [[maybe_unused]] const ssize_t written = ::write(g_resized, &byte, 1);
  errno = saved;
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

std::optional<TerminalSize> terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return TerminalSize{.rows = size.ws_row, .columns = size.ws_col};
}

void restore_terminal() noexcept {
  // SAFETY: async-signal-safe calls and lock-free atomics only.
  const int saved = errno;
  const int fd = g_terminal.exchange(-1);
  if (fd >= 0) ::tcsetattr(fd, TCSADRAIN, &g_before);
  errno = saved;
}

Result<RawTerminal> RawTerminal::enter(int fd) {
  RawTerminal terminal;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return base::system_error(errno, "make a pipe");
  terminal.resized_read_.reset(ends[0]);
  terminal.resized_write_.reset(ends[1]);
  if (::tcgetattr(fd, &g_before) != 0) return base::system_error(errno, "look at the terminal");
  g_resized = ends[1];
  g_terminal = fd;
  handle(SIGWINCH, on_resized, SA_RESTART);
  for (const int signal : kFatal) handle(signal, on_fatal, static_cast<int>(SA_RESETHAND));
  termios raw = g_before;
  ::cfmakeraw(&raw);
  if (::tcsetattr(fd, TCSADRAIN, &raw) != 0) {
    return base::system_error(errno, "hand the terminal over");
  }
  return terminal;
}

RawTerminal::~RawTerminal() {
  if (!resized_read_) return;
  restore_terminal();
  handle(SIGWINCH, SIG_DFL, 0);
  for (const int signal : kFatal) handle(signal, SIG_DFL, 0);
  g_resized = -1;
}

}  // namespace cove::cli

#include "cli/machine/raw_terminal.hpp"

#include <csignal>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

using cove::base::UniqueFd;
using cove::cli::RawTerminal;
using cove::cli::terminal_size;

namespace {

/// A terminal that nobody sits at, and is nobody's controlling one.
struct Terminal {
  Terminal() : master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(master);
    REQUIRE(::grantpt(*master) == 0);
    REQUIRE(::unlockpt(*master) == 0);
    char name[64] = {};
    REQUIRE(::ptsname_r(*master, name, sizeof name) == 0);
    slave.reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(slave);
  }
  bool is_raw() const {
    termios now{};
    REQUIRE(::tcgetattr(*slave, &now) == 0);
    return (now.c_lflag & (ICANON | ECHO | ISIG)) == 0;
  }
  UniqueFd master;
  UniqueFd slave;
};

/// How a child ended that entered raw mode and then did `end`.
int status_after(const Terminal& terminal, void (*end)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto raw = RawTerminal::enter(*terminal.slave);
    if (raw) end();
    ::_exit(99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("Raw terminal: keys come as they are while it lives, and not after", "[unit][cli]") {
  const Terminal terminal;
  CHECK_FALSE(terminal.is_raw());
  {
    const auto raw = RawTerminal::enter(*terminal.slave);
    REQUIRE(raw);
    CHECK(terminal.is_raw());
  }
  CHECK_FALSE(terminal.is_raw());
  struct sigaction action{};
  REQUIRE(::sigaction(SIGWINCH, nullptr, &action) == 0);
  CHECK(action.sa_handler == SIG_DFL);
}

TEST_CASE("Raw terminal: a program that dies of a signal leaves it as it was", "[unit][cli]") {
  const Terminal terminal;
  const int status = status_after(terminal, [] { ::raise(SIGQUIT); });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGQUIT);
  CHECK_FALSE(terminal.is_raw());
}

TEST_CASE("Raw terminal: a new size of the window is told", "[unit][cli]") {
  const Terminal terminal;
  CHECK_FALSE(terminal_size(*terminal.slave));  // it says none
  const winsize size{.ws_row = 50, .ws_col = 132, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(::ioctl(*terminal.slave, TIOCSWINSZ, &size) == 0);
  const auto told = terminal_size(*terminal.slave);
  REQUIRE(told);
  CHECK(told->rows == 50);
  CHECK(told->columns == 132);
  const auto raw = RawTerminal::enter(*terminal.slave);
  REQUIRE(raw);
  pollfd ready{raw->resized_fd(), POLLIN, 0};
  CHECK(::poll(&ready, 1, 0) == 0);
  ::raise(SIGWINCH);
  CHECK(::poll(&ready, 1, 0) == 1);
}

TEST_CASE("Raw terminal: what is no terminal is refused", "[unit][cli]") {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  CHECK_FALSE(RawTerminal::enter(*null));
  CHECK_FALSE(terminal_size(*null));
}

#include "cli/machine/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "cli/machine/raw_terminal.hpp"

namespace cove::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A handler can reach nothing but globals; only this program's one Interrupt uses them.
std::atomic<int> g_signal{0};
std::atomic<int> g_wake{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_interrupt(int signal) {
  // SAFETY: async-signal-safe calls and lock-free atomics only.
  const int saved = errno;
  int none = 0;
  if (!g_signal.compare_exchange_strong(none, signal)) {
    restore_terminal();
    ::_exit(128 + signal);
  }
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = ::write(g_wake, &byte, 1);
  errno = saved;
}

extern "C" void on_broken_pipe(int) {}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  struct sigaction old{};
  ::sigaction(signal, &action, &old);
  // Who started this program may want it to live on (nohup).
  if (old.sa_handler == SIG_IGN) ::sigaction(signal, &old, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return;  // then a signal just ends the program
  wake_read_.reset(ends[0]);
  wake_write_.reset(ends[1]);
  g_signal = 0;
  g_wake = *wake_write_;
  watcher_ = std::thread([this] { watch(); });
  for (const int signal : kSignals) handle(signal, on_interrupt);
  // A handler rather than SIG_IGN: programs that are started would inherit that.
  handle(SIGPIPE, on_broken_pipe);
}

Interrupt::~Interrupt() {
  if (!watcher_.joinable()) return;
  for (const int signal : kSignals) handle(signal, SIG_DFL);
  handle(SIGPIPE, SIG_DFL);
  g_wake = -1;
  wake_write_.reset();
  watcher_.join();
}

void Interrupt::watch() {
  char byte = 0;
  while (::read(*wake_read_, &byte, 1) < 0 && errno == EINTR) {
  }
  if (signal() != 0) stop_.request_stop();
}

int Interrupt::signal() const noexcept { return g_signal; }

}  // namespace cove::cli

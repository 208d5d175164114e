#include "cli/machine/interrupt.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

using cove::cli::Interrupt;

TEST_CASE("Interrupt: the first signal asks to stop, and is remembered", "[unit][cli][threads]") {
  const Interrupt interrupt;
  CHECK(interrupt.signal() == 0);
  std::mutex mutex;
  std::condition_variable_any stopped;
  ::raise(SIGTERM);
  std::unique_lock lock(mutex);
  stopped.wait(lock, interrupt.token(), [] { return false; });
  CHECK(interrupt.token().stop_requested());
  CHECK(interrupt.signal() == SIGTERM);
}

TEST_CASE("Interrupt: ends without a signal", "[unit][cli][threads]") {
  {
    const Interrupt interrupt;
    ::raise(SIGPIPE);
    CHECK_FALSE(interrupt.token().stop_requested());
  }
  struct sigaction action{};
  REQUIRE(::sigaction(SIGINT, nullptr, &action) == 0);
  CHECK(action.sa_handler == SIG_DFL);
}

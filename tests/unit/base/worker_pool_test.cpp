// A pool on a machine that has no threads left.
#include "base/async/worker_pool.hpp"

#include <fstream>
#include <system_error>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/skip.hpp"

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasOwnMemory = true;  // more than a limit of addresses can be set for
#else
constexpr bool kHasOwnMemory = false;
#endif

/// Leaves room for some threads' stacks, and no more.
void limit_addresses() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = pages * 4096 + (std::size_t{64} << 20U);
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

TEST_CASE("WorkerPool: where a thread cannot be had that is an exception, not the end",
          "[unit][base]") {
  if (kHasOwnMemory) return cove::test::skip("not where a sanitizer has its own memory");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    limit_addresses();
    try {
      const cove::base::WorkerPool pool(1000);
      ::_exit(1);
    } catch (const std::system_error&) {
      ::_exit(0);
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

// What a host's process is like must not show in a sandbox that it starts, and a chat that fails
// must not hold on to one.
#include <string>

#include <catch2/catch.hpp>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/fixtures/live_cove.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace cove::testing;
using cove::test::ChildProcess;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

void restrict_this_process() {
  // Soft ones: what is hard only CAP_SYS_RESOURCE can raise again, which even root may lack.
  const rlimit seconds{1000, RLIM_INFINITY};
  const rlimit bytes{20 << 20, RLIM_INFINITY};
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (::setrlimit(RLIMIT_CPU, &seconds) != 0 || ::setrlimit(RLIMIT_FSIZE, &bytes) != 0 ||
      ::setpriority(PRIO_PROCESS, 0, 10) != 0 ||
      ::sched_setaffinity(0, sizeof first, &first) != 0) {
    throw std::runtime_error("this process cannot be restricted");
  }
}

/// Limits, niceness and processors as a command sees them, in one line.
std::string surroundings(const SandboxClient& client) {
  return shell(client, "echo $(ulimit -t) $(ulimit -f) $(nice) $(nproc)");
}

}  // namespace

TEST_CASE("Cove: limits, niceness and processors of who starts a sandbox are not its own",
          "[integration][runtime]") {
  if (::geteuid() != 0) return cove::test::skip("an ordinary user's niceness is not taken back");
  const LiveCove live;
  ChildProcess starter([&](int output) {
    restrict_this_process();
    auto cove = live.open();
    const auto workspace = cove.acquire(kAna).value();
    const std::string seen = surroundings(workspace.client());
    if (::write(output, seen.data(), seen.size()) < 0) ::_exit(1);
  });
  const std::string seen = starter.wait();
  const std::string processors = std::to_string(::sysconf(_SC_NPROCESSORS_ONLN));
  CHECK(seen == "unlimited unlimited 0 " + processors);
}

TEST_CASE("Cove: an acquire that fails at its session keeps no hold on the sandbox",
          "[integration][runtime]") {
  const LiveCove live;
  {
    auto cove = live.open();
    auto workspace = cove.acquire(kAna).value();
    shell(workspace.client(), "rm -rf sessions; echo file > sessions");
    workspace.release().value();
    const auto refused = cove.acquire(kAna, {.chat_id = "c1"});
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().describe(), Catch::Contains("sessions"));
    cove.close().value();
  }
  auto cove = live.open();
  CHECK(cove.status(sandbox_id_of(kAna)).value().activity.empty());
  CHECK(cove.stop(sandbox_id_of(kAna)));
}

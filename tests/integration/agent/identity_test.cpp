// What a command is, and what it can do to the agent.
#include <csignal>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fakes/byte_sources.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/skip.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

constexpr bool kOtherIds = false;

bool is_root() {
  if (::getuid() == 0) return true;
  test::skip("only root can give commands other ids");
  return false;
}

}  // namespace

TEST_CASE("Agent: a command has the boot's ids, no group, no capability and no way to new ones",
          "[integration][agent][security]") {
  if (!is_root()) return;
  AgentFixture f({}, kOtherIds);
  CHECK(f.shell("id -u; id -g; id -G").value().out.head == "1000\n1000\n1000\n");
  CHECK(f.shell("grep -c '^Cap[IPEBA]..:.0000000000000000$' /proc/self/status").value().out.head ==
        "5\n");
  CHECK(f.shell("grep NoNewPrivs /proc/self/status").value().out.head == "NoNewPrivs:\t1\n");
  CHECK(f.shell("cat /etc/shadow").value().shell_code() == 1);
}

TEST_CASE("Agent: files that the host writes belong to the command's ids",
          "[integration][agent][security]") {
  if (!is_root()) return;
  AgentFixture f({}, kOtherIds);
  test::TextSource text("hello");
  const GuestPath path{"", "dir/file"};
  REQUIRE(f.wait(f.guest->write_file(path, text, {}, {})));
  CHECK(f.shell("stat -c '%u:%g' dir dir/file").value().out.head == "1000:1000\n1000:1000\n");
  // Nor does the agent see what they may not: a directory of somebody else's is closed to it.
  REQUIRE(::mkdir((f.agent.workspace() + "/roots").c_str(), 0700) == 0);
  const GuestPath closed{"", "roots"};
  CHECK(f.wait(f.guest->list(closed, {}, {})).error().code() == ErrorCode::kPermissionDenied);
  CHECK(f.run({.argv = {"true"}, .cwd = "roots"}).error().code() == ErrorCode::kPermissionDenied);
}

TEST_CASE("Agent: a command of other ids can neither signal nor read its keeper or the agent",
          "[integration][agent][security]") {
  if (!is_root()) return;
  AgentFixture f({}, kOtherIds);
  const auto agent = std::to_string(f.agent.pid());
  CHECK(f.shell("kill -9 $PPID").value().shell_code() == 1);
  CHECK(f.shell("kill -9 " + agent).value().shell_code() == 1);
  CHECK(f.shell("head -c 1 /proc/$PPID/mem").value().shell_code() == 1);
  CHECK(f.shell("ls /proc/" + agent + "/fd").value().shell_code() == 2);
  CHECK(f.shell("echo fine").value().out.head == "fine\n");
}

TEST_CASE("Agent: a command that kills its keeper is over, with all that it started",
          "[integration][agent][security]") {
  AgentFixture f;
  const auto result =
      f.shell("setsid sleep 1000 & echo $!; (setsid sleep 1000 & echo $!); kill -9 $PPID; sleep 9");
  REQUIRE(result);
  CHECK(std::get<Signaled>(result->outcome).signal == SIGKILL);
  const auto first = std::stoi(result->out.head);
  const auto second = std::stoi(result->out.head.substr(result->out.head.find('\n') + 1));
  const auto alive = [&] { return ::kill(first, 0) == 0 || ::kill(second, 0) == 0; };
  for (int i = 0; i < 1000 && alive(); ++i) ::usleep(10'000);
  CHECK_FALSE(alive());
  CHECK(f.shell("echo fine").value().out.head == "fine\n");
}

TEST_CASE("Agent: limits of a command bite where the boot asks for them", "[integration][agent]") {
  wire::AgentBoot boot;
  boot.address_space_bytes = 300'000'000;
  boot.best_effort_limits = true;
  AgentFixture f(boot);
  CHECK(f.shell("ulimit -v").value().out.head == "292968\n");
  CHECK(f.shell("cat /proc/self/oom_score_adj").value().out.head == "500\n");
  CHECK(f.shell("python3 -c 'x = bytearray(500_000_000)' 2>/dev/null").value().shell_code() == 1);
}

TEST_CASE("Agent: without a boot document it does not start", "[integration][agent]") {
  const auto result = ::system((test::agent_path() + " guest 99 2>/dev/null").c_str());
  CHECK(WEXITSTATUS(result) == 1);
}

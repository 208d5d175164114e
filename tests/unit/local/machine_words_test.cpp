// What the machine's facts are turned into: findings, causes and remedies.
#include <array>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/instance_record.hpp"
#include "providers/local/instance/process.hpp"
#include "providers/local/instance/quiet_start.hpp"
#include "providers/local/machine_facts.hpp"
#include "providers/local/machine_probe.hpp"
#include "providers/local/root_powers.hpp"
#include "support/fixtures/agent_fixture.hpp"

using namespace cove;
using namespace cove::local;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The soft limit of open descriptors, until the end of the scope.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t soft) {
    const bool known = ::getrlimit(RLIMIT_NOFILE, &before_) == 0;
    const rlimit limit{soft, before_.rlim_max};
    if (!known || ::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw std::runtime_error("no limit");
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("Descriptors: the error of a process without any left names its limit", "[unit][local]") {
  const DescriptorLimit limit(64);
  const Error error = base::system_error(EMFILE, "open 'x'");
  CHECK(error.code() == ErrorCode::kQuotaExceeded);
  CHECK(error.message() ==
        "open 'x': Too many open files; this process may have 64 descriptors open: raise that "
        "(ulimit -n, or LimitNOFILE= of its service) to 1024 or more");
  CHECK(base::system_error(ENFILE, "open 'x'").message() ==
        "open 'x': Too many open files in system; all descriptors of the machine are in use: end "
        "what holds many, or raise fs.file-max");
}

TEST_CASE("Descriptors: a program that cannot be handed its own names the limit too",
          "[unit][local]") {
  const DescriptorLimit limit(32);
  const std::array<int, 40> descriptors{};
  const auto started = start_quietly(0, {"x"}, descriptors);
  REQUIRE_FALSE(started);
  CHECK(started.error().code() == ErrorCode::kQuotaExceeded);
  CHECK(has(started.error().message(), "pass a descriptor: Too many open files"));
  CHECK(has(started.error().message(), "may have 32 descriptors open"));
}

TEST_CASE("Descriptors: what cannot be looked at without one is not taken for gone",
          "[unit][local]") {
  const PidSpace here = this_pid_space().value();
  const auto facts = facts_of(::getpid()).value();
  const InstanceRecord record{{}, "", here, ::getpid(), facts->start_time};
  const base::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  // Nothing is checked while there are none, and all that happens then has happened before: a
  // sanitizer wants descriptors when it meets an object's type for the first time.
  std::vector<Error> told = {base::system_error(EMFILE, "look")};
  told.clear();
  {
    const DescriptorLimit limit(0);
    const auto of_pid = facts_of(::getpid());
    const auto of_record = find_process(record, here);
    const auto of_pidfd = Process::behind(*pidfd);
    const auto of_mounts = cgroup_mounts();
    told = {of_pid.error(), of_record.error(), of_pidfd.error(), of_mounts.error()};
  }
  for (const Error& error : told) CHECK(error.code() == ErrorCode::kQuotaExceeded);
  CHECK(find_process(record, here).value());
  CHECK(Process::behind(*pidfd).value());
}

TEST_CASE("Start failure: too many open files is not blamed on namespaces", "[unit][local]") {
  const Error error =
      explain_start_failure("cove-launcher: open the user namespace: Too many open files");
  CHECK(error.code() == ErrorCode::kQuotaExceeded);
  CHECK(has(error.message(), "descriptors open: raise that"));
  CHECK_FALSE(has(error.message(), "refuses a namespace"));
}

TEST_CASE("bubblewrap: a wrong path is to be corrected, not installed", "[unit][local]") {
  const Error wrong = bubblewrap_missing("/no/such/bwrap");
  CHECK(has(wrong.message(),
            "provider.bubblewrap: there is no program that may be run at "
            "'/no/such/bwrap'; correct the path, or leave it out"));
  CHECK_FALSE(has(wrong.message(), "install"));
  CHECK(has(bubblewrap_missing("").message(), "apt install bubblewrap"));
}

TEST_CASE("doctor: of a wrong path of bubblewrap says to correct it", "[unit][local]") {
  const cove::test::TemporaryDirectory directory;
  LocalOptions options;
  options.state_dir = directory.path() + "/state";
  options.bubblewrap = "/no/such/bwrap";
  int found = 0;
  for (const ProbeFinding& finding : probe_machine(options)) {
    if (finding.subject != "bubblewrap") continue;
    ++found;
    CHECK(finding.level == ProbeFinding::Level::kBroken);
    CHECK(has(finding.detail, "'/no/such/bwrap'"));
    CHECK(finding.remedy == "correct provider.bubblewrap, or leave it out");
  }
  CHECK(found == 1);
}

TEST_CASE("Root: only one with ids to give away counts as one", "[unit][local]") {
  CHECK(parse_uid_map("         0          0 4294967295\n").ids == 4'294'967'295);
  CHECK(parse_uid_map("         0      65534          1\n").ids == 1);  // unshare -r
  CHECK(parse_uid_map("0 1000 1\n1 100000 65536\n").ids == 65'537);     // a rootless container
  CHECK(parse_uid_map("").ids == 0);
}

TEST_CASE("Root: no sandbox runs as the machine's root where there are no ids to give",
          "[unit][local]") {
  CHECK(check_map_in("0 0 4294967295\n"));
  CHECK(check_map_in("0 1000 1\n"));
  CHECK(check_map_in("0 1000 1\n1 100000 65536\n"));
  for (const char* map : {"0 0 1\n", "1 100000 10\n0 0 1\n"}) {
    const auto refused = check_map_in(map);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::kProvider);
    CHECK(has(refused.error().message(), "run it outside of that namespace"));
  }
}

TEST_CASE("Root: capabilities that are missing are named, with what to do", "[unit][local]") {
  CHECK(check_powers_in("Name:\tx\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n"));
  const auto docker = check_powers_in("Name:\tx\nCapEff:\t00000000a80425fb\n");
  REQUIRE_FALSE(docker);
  CHECK(docker.error().code() == ErrorCode::kProvider);
  CHECK(has(docker.error().message(), "uid 0, but without CAP_SYS_ADMIN, which"));
  CHECK(has(docker.error().message(), "or run it as an ordinary user"));
  CHECK(has(check_powers_in("\nCapEff:\t0000000000000000\n").error().message(),
            "without CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_SETGID, CAP_SETUID, "
            "CAP_SYS_ADMIN"));
}

TEST_CASE("Subordinate ids: who has some of a range's is found", "[unit][local]") {
  const std::string text = "ana:100000:65536\nbroken\nx:y:z\nbob:536870000:1000\n";
  CHECK(subuid_owner(text, 536'870'912, 65'536) == "bob");
  CHECK(subuid_owner(text, 165'536, 65'536) == std::nullopt);
  CHECK(subuid_owner(text, 165'535, 1) == "ana");
  CHECK(subuid_owner(text, 100'000, 1) == "ana");
  CHECK(subuid_owner("", 0, 1ULL << 32U) == std::nullopt);
}

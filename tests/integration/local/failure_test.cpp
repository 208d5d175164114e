// How starts fail: with cause and remedy, and nothing left.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "providers/local/machine_probe.hpp"
#include "support/fixtures/local_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using cove::test::LocalMachine;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// A program in bubblewrap's place.
struct FakeBubblewrap {
  explicit FakeBubblewrap(const std::string& script) {
    // Not below /tmp: where the host is root that is covered when a script is looked for.
    path = "/var/tmp/cove-fake-bwrap-XXXXXX";
    const base::UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
  }
  ~FakeBubblewrap() { ::unlink(path.c_str()); }
  FakeBubblewrap(const FakeBubblewrap&) = delete;
  FakeBubblewrap& operator=(const FakeBubblewrap&) = delete;

  local::LocalOptions options() const {
    local::LocalOptions options;
    options.bubblewrap = path;
    return options;
  }

  std::string path;
};

Result<void> start_with(LocalMachine& machine, const CallContext& call = {}) {
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  machine.create(instance.volume).value();
  return machine.start(instance, {}, call);
}

}  // namespace

TEST_CASE("Local provider: a missing bubblewrap is named with its remedy",
          "[integration][local][any-user][pain-85]") {
  local::LocalOptions options;
  options.bubblewrap = "/nonexistent/bwrap";
  LocalMachine machine(options);
  const auto started = start_with(machine);
  REQUIRE_FALSE(started);
  CHECK(started.error().code() == ErrorCode::kProvider);
  CHECK_THAT(started.error().message(), Catch::Contains("/nonexistent/bwrap"));
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: a refused namespace is named as such",
          "[integration][local][any-user][pain-85]") {
  const FakeBubblewrap fake("echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  LocalMachine machine(fake.options());
  const auto started = start_with(machine);
  REQUIRE_FALSE(started);
  CHECK(started.error().code() == ErrorCode::kProvider);
  CHECK_THAT(started.error().message(), Catch::Contains("namespace"));
  CHECK_THAT(started.error().message(), Catch::Contains("No permissions"));
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: a start that hangs ends with the call and leaves nothing",
          "[integration][local][any-user]") {
  const FakeBubblewrap fake("exec sleep 1000");
  LocalMachine machine(fake.options());
  const CallContext call{.deadline = machine.clock.now() + 300ms};
  CHECK(start_with(machine, call).error().code() == ErrorCode::kTimeout);
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: a start that is called off leaves nothing",
          "[integration][local][any-user]") {
  const FakeBubblewrap fake("exec sleep 1000");
  LocalMachine machine(fake.options());
  std::stop_source stop;
  std::thread caller([&] {
    cove::test::eventually([&] { return !fs::is_empty(machine.state_dir() + "/run"); });
    stop.request_stop();
  });
  const CallContext call{.stop = stop.get_token()};
  CHECK(start_with(machine, call).error().code() == ErrorCode::kCancelled);
  caller.join();
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: a state directory that others may enter is refused",
          "[integration][local][any-user]") {
  const cove::test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/open";
  fs::create_directory(path);
  ::chmod(path.c_str(), 0755);
  LocalMachine machine;
  local::LocalOptions options;
  options.state_dir = path;
  const local::LocalRuntime runtime{machine.loop, machine.pool, machine.clock, machine.ids,
                                    nullptr};
  const auto opened = local::open_local_provider(options, runtime);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == ErrorCode::kPermissionDenied);
  options.state_dir = "relative/path";
  CHECK(local::open_local_provider(options, runtime).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Local provider: a damaged agent on disk is written again",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  REQUIRE(machine.stop(instance));
  for (const auto& entry : fs::recursive_directory_iterator(machine.state_dir() + "/agent")) {
    if (entry.path().filename() != "cove-agent") continue;
    ::chmod(entry.path().c_str(), 0700);
    std::ofstream(entry.path(), std::ios::in | std::ios::out) << "damaged";
  }
  local::LocalOptions options;
  options.state_dir = machine.state_dir();
  LocalMachine later(options);
  CHECK(later.start({instance.volume, Epoch{2}}));
}

TEST_CASE("Local provider: uid ranges that are all given out are told", "[integration][local]") {
  if (!cove::test::is_root()) return cove::test::skip("only root gives uid ranges out");
  const cove::test::TemporaryDirectory ranges;
  ::chmod(ranges.path().c_str(), 0700);
  local::LocalOptions options;
  options.uid_directory = ranges.path() + "/ranges";
  options.uid_base = 1'900'000'000;
  options.uid_ranges = 2;
  LocalMachine machine(options);
  const VolumeRef first = machine.new_volume();
  REQUIRE(machine.create(first));
  REQUIRE(machine.create(machine.new_volume()));
  const auto third = machine.create(machine.new_volume());
  REQUIRE_FALSE(third);
  CHECK(third.error().code() == ErrorCode::kQuotaExceeded);
  REQUIRE(machine.remove(first));
  CHECK(machine.create(machine.new_volume()));
}

TEST_CASE("Machine probe: says what was tried and what is missing",
          "[integration][local][any-user]") {
  LocalMachine machine;
  using Level = local::ProbeFinding::Level;
  const auto level_of = [](const std::vector<local::ProbeFinding>& findings,
                           const std::string& subject) {
    for (const auto& finding : findings) {
      if (finding.subject == subject) return finding.level;
    }
    return Level::kGood;
  };
  const auto findings = local::probe_machine(machine.options);
  CHECK(level_of(findings, "namespaces") == Level::kGood);
  std::vector<std::string> subjects;
  for (const auto& finding : findings) subjects.push_back(finding.subject);
  CHECK(subjects == std::vector<std::string>{"bubblewrap", "namespaces", "limits", "separate users",
                                             "outliving the host"});
  local::LocalOptions without = machine.options;
  without.bubblewrap = "/nonexistent/bwrap";
  CHECK(level_of(local::probe_machine(without), "bubblewrap") == Level::kBroken);
  const FakeBubblewrap fake("echo 'bwrap: Creating new namespace failed' >&2; exit 1");
  local::LocalOptions refused = machine.options;
  refused.bubblewrap = fake.path;
  CHECK(level_of(local::probe_machine(refused), "namespaces") == Level::kBroken);
}

TEST_CASE("Local provider: what is left of a bubblewrap killed in the middle of a start is ended",
          "[integration][local][any-user]") {
  // The real one, but its child waits before it becomes the agent, as one does whose parent was
  // killed before it had told the child to go on.
  const cove::test::TemporaryDirectory directory;
  const std::string fifo = "/var/tmp/cove-block-" + std::to_string(::getpid());
  REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
  ::chmod(fifo.c_str(), 0666);
  const FakeBubblewrap fake("exec /usr/bin/bwrap --block-fd 3 \"$@\" 3<> " + fifo);
  LocalMachine machine(fake.options());
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  REQUIRE(machine.create(instance.volume));
  cove::test::InstanceProcesses processes;
  std::thread killer([&] {
    cove::test::eventually([&] {
      processes = cove::test::processes_of(machine, instance);
      return processes.agent != 0;
    });
    ::kill(processes.bubblewrap, SIGKILL);
  });
  const auto started = machine.start(instance);
  killer.join();
  ::unlink(fifo.c_str());
  REQUIRE(processes.agent != 0);
  CHECK_FALSE(started);
  CHECK(cove::test::eventually([&] { return !cove::test::is_alive(processes.agent); }));
  CHECK(machine.inspect(instance).state == InstanceState::kGone);
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: the state directory may be on another file system than /etc",
          "[integration][local]") {
  std::string path = "/dev/shm/cove-test-XXXXXX";
  REQUIRE(::mkdtemp(path.data()) != nullptr);
  local::LocalOptions options;
  options.state_dir = path + "/state";
  {
    LocalMachine machine(options);
    const InstanceRef instance = machine.start_new();
    CHECK(machine.output(instance, "head -c 4 /etc/passwd") == "root");
  }
  fs::remove_all(path);
}

// Volumes and instances of the local provider, with real bubblewrap. Cases tagged [any-user] also
// run as an ordinary user: see ordinary_user_test.cpp.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "support/fixtures/local_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using cove::test::eventually;
using cove::test::leftovers;
using cove::test::LocalMachine;
namespace fs = std::filesystem;

namespace {

InstanceRef at(const InstanceRef& instance, std::uint64_t epoch) {
  return {instance.volume, Epoch{epoch}};
}

Result<std::unique_ptr<OfflineVolume>> open_offline(LocalMachine& machine,
                                                    const VolumeRef& volume) {
  const CallContext call;
  return machine.wait(machine.provider->open_volume(volume, VolumeAccess::kWrite, call));
}

}  // namespace

TEST_CASE("Local provider: a started instance runs commands on its volume",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  CHECK(machine.output(instance, "echo hello > note.txt; pwd; cat note.txt") ==
        "/workspace\nhello\n");
  CHECK(machine.inspect(instance).state == InstanceState::kRunning);
  CHECK(machine.inspect(instance).volume_present);
  std::ifstream note(machine.path_of(instance.volume) + "/workspace/note.txt");
  std::string line;
  std::getline(note, line);
  CHECK(line == "hello");
}

TEST_CASE("Local provider: commands stand in the group with the limits, the agent beside it",
          "[integration][local]") {
  LocalMachine machine;
  if (!machine.provider->capabilities().limits) {
    return cove::test::skip("no cgroups can be made here");
  }
  const InstanceRef instance = machine.start_new();
  const auto processes = cove::test::processes_of(machine, instance);
  const auto group_of = [](const std::string& text) {
    for (const char* hierarchy : {":memory:", "0::"}) {
      const auto at = text.find(hierarchy);
      if (at == std::string::npos) continue;
      const auto path = text.find('/', at);
      return text.substr(path, text.find('\n', path) - path);
    }
    return std::string();
  };
  const auto outside = [&](pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cgroup");
    return group_of(std::string(std::istreambuf_iterator<char>(file), {}));
  };
  const std::string agent = outside(processes.agent);
  CHECK(agent.find(instance.volume.sandbox.str() + "-1") != std::string::npos);
  CHECK(agent.find("commands") == std::string::npos);
  CHECK(outside(processes.bubblewrap) == agent);
  const std::string inside = group_of(machine.output(instance, "cat /proc/self/cgroup"));
  CHECK(inside.ends_with("/commands"));
}

TEST_CASE("Local provider: a stop leaves nothing but the volume",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  machine.output(instance, "setsid sleep 1000 > /dev/null 2>&1 < /dev/null & echo kept > note");
  const auto processes = cove::test::processes_of(machine, instance);
  REQUIRE(processes.agent != 0);
  REQUIRE(machine.stop(instance));
  CHECK_FALSE(cove::test::is_alive(processes.agent));
  CHECK_FALSE(cove::test::is_alive(processes.bubblewrap));
  CHECK(machine.inspect(instance).state == InstanceState::kGone);
  CHECK(machine.inspect(instance).volume_present);
  CHECK(leftovers(machine) == std::vector<std::string>{});
  CHECK(machine.connect(instance).error().code() == ErrorCode::kUnavailable);
  REQUIRE(machine.start(at(instance, 2)));
  CHECK(machine.output(at(instance, 2), "cat note") == "kept\n");
}

TEST_CASE("Local provider: every call can be repeated", "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance{machine.new_volume(), Epoch{3}};
  for (int i = 0; i < 2; ++i) REQUIRE(machine.create(instance.volume));
  for (int i = 0; i < 2; ++i) REQUIRE(machine.start(instance));
  const auto processes = cove::test::processes_of(machine, instance);
  REQUIRE(machine.start(instance));
  CHECK(cove::test::processes_of(machine, instance).agent == processes.agent);
  for (int i = 0; i < 2; ++i) REQUIRE(machine.stop(instance));
  for (int i = 0; i < 2; ++i) REQUIRE(machine.remove(instance.volume));
  REQUIRE(machine.stop(instance));
  CHECK(machine.inspect(instance).state == InstanceState::kGone);
  CHECK_FALSE(machine.inspect(instance).volume_present);
  CHECK(machine.list().volumes.empty());
  CHECK(leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: what was stopped does not start again",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef first = machine.start_new();
  REQUIRE(machine.stop(at(first, 3)));
  // As requests that were on their way for long.
  CHECK(machine.start(first).error().code() == ErrorCode::kConflict);
  CHECK(machine.start(at(first, 3)).error().code() == ErrorCode::kConflict);
  CHECK(machine.inspect(first).state == InstanceState::kGone);
  REQUIRE(machine.stop(first));
  CHECK(machine.start(at(first, 3)).error().code() == ErrorCode::kConflict);
  REQUIRE(machine.start(at(first, 4)));
}

TEST_CASE("Local provider: a newer epoch replaces an older one, never the other way round",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef first = machine.start_new();
  const auto before = cove::test::processes_of(machine, first);
  const InstanceRef third = at(first, 3);
  REQUIRE(machine.start(third));
  CHECK_FALSE(cove::test::is_alive(before.agent));
  CHECK(machine.inspect(first).state == InstanceState::kGone);
  CHECK(machine.inspect(third).state == InstanceState::kRunning);
  CHECK(machine.connect(first).error().code() == ErrorCode::kConflict);
  CHECK(machine.start(at(first, 2)).error().code() == ErrorCode::kConflict);

  SECTION("a stop of an older epoch touches nothing") {
    REQUIRE(machine.stop(at(first, 2)));
    CHECK(machine.output(third, "echo here") == "here\n");
  }
  SECTION("a stop of a newer epoch ends it too") {
    REQUIRE(machine.stop(at(first, 9)));
    CHECK(machine.inspect(third).state == InstanceState::kGone);
  }
}

TEST_CASE("Local provider: a volume in use is not deleted", "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  CHECK(machine.remove(instance.volume).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(machine.output(instance, "echo here") == "here\n");
  REQUIRE(machine.stop(instance));
  {
    const auto opened = open_offline(machine, instance.volume).value();
    CHECK(machine.remove(instance.volume).error().code() == ErrorCode::kFailedPrecondition);
  }
  CHECK(machine.remove(instance.volume));
  CHECK_FALSE(fs::exists(machine.path_of(instance.volume)));
}

TEST_CASE("Local provider: a volume is open offline or runs, never both",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  CHECK(open_offline(machine, instance.volume).error().code() == ErrorCode::kFailedPrecondition);
  REQUIRE(machine.stop(instance));
  auto opened = open_offline(machine, instance.volume).value();
  CHECK(open_offline(machine, instance.volume).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(machine.inspect(instance).state == InstanceState::kGone);
  const CallContext soon{.deadline = machine.clock.now() + std::chrono::milliseconds(100)};
  CHECK(machine.start(at(instance, 2), {}, soon).error().code() == ErrorCode::kTimeout);
  const CallContext call;
  CHECK(machine.wait(opened->sync(call)));
  CHECK(opened->ids().single == !cove::test::is_root());
  opened.reset();
  CHECK(machine.start(at(instance, 2)));
}

TEST_CASE("Local provider: list names what exists, asked for or not",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef running = machine.start_new();
  const VolumeRef idle = machine.new_volume();
  REQUIRE(machine.create(idle));
  auto inventory = machine.list();
  std::vector<VolumeRef> volumes = {running.volume, idle};
  std::sort(volumes.begin(), volumes.end());
  std::sort(inventory.volumes.begin(), inventory.volumes.end());
  CHECK(inventory.volumes == volumes);
  CHECK(inventory.instances == std::vector<InstanceRef>{running});
  const CallContext call;
  const DeploymentId other(base::random_name(machine.ids));
  CHECK(machine.wait(machine.provider->list(other, call)).value().volumes.empty());
  REQUIRE(machine.stop(running));
  CHECK(machine.list().instances.empty());
}

TEST_CASE("Local provider: a half deleted volume is found and finished",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const VolumeRef volume = machine.new_volume();
  REQUIRE(machine.create(volume));
  const fs::path path = machine.path_of(volume);
  fs::rename(path, path.parent_path() / (".dead-" + volume.generation.str()));
  CHECK(machine.list().volumes == std::vector<VolumeRef>{volume});
  REQUIRE(machine.remove(volume));
  CHECK(machine.list().volumes.empty());
  CHECK_FALSE(fs::exists(path.parent_path()));
}

TEST_CASE("Local provider: a half made volume is completed or deleted",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const VolumeRef volume = machine.new_volume();
  REQUIRE(machine.create(volume));
  const fs::path marker = machine.path_of(volume) + "/marker";
  const auto read = [&] {
    std::ifstream file(marker);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = read();
  fs::remove(marker);  // as a crash before the last step of create leaves it
  CHECK(machine.start({volume, Epoch{1}}).error().code() == ErrorCode::kIntegrity);
  SECTION("completed, with the same uid range") {
    REQUIRE(machine.create(volume));
    CHECK(read() == before);
    CHECK(machine.start({volume, Epoch{1}}));
  }
  SECTION("deleted") {
    REQUIRE(machine.remove(volume));
    CHECK_FALSE(fs::exists(machine.path_of(volume)));
  }
  SECTION("but not where something was kept in it") {
    std::ofstream(machine.path_of(volume) + "/workspace/data") << "x";
    CHECK(machine.remove(volume).error().code() == ErrorCode::kIntegrity);
    CHECK(fs::exists(machine.path_of(volume) + "/workspace/data"));
    fs::remove(machine.path_of(volume) + "/workspace/data");
  }
}

TEST_CASE("Local provider: names that are no file names are refused",
          "[integration][local][any-user]") {
  LocalMachine machine;
  for (const char* name : {"", ".", "..", "a/b", "a\nb", ".hidden"}) {
    VolumeRef volume = machine.new_volume();
    volume.sandbox = SandboxId(name);
    CHECK(machine.create(volume).error().code() == ErrorCode::kInvalidArgument);
  }
}

// What the local provider survives: ends of processes, in any order and number.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fixtures/local_fixture.hpp"

using namespace cove;
using cove::test::eventually;
using cove::test::LocalMachine;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> words_of(const LocalMachine& machine, const InstanceRef& instance) {
  return {machine.state_dir(), instance.volume.deployment.str(), instance.volume.sandbox.str(),
          instance.volume.generation.str(), std::to_string(number_of(instance.epoch))};
}

InstanceRef next_of(const InstanceRef& instance) { return {instance.volume, next(instance.epoch)}; }

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("Local provider: an instance outlives the process that started it",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  REQUIRE(machine.create(instance.volume));
  const base::UniqueFd output(
      ::open((machine.directory.path() + "/out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const pid_t child = cove::test::start_child("child: start an instance and wait for death",
                                              words_of(machine, instance), *output);
  REQUIRE(eventually([&] {
    return read_file(machine.directory.path() + "/out").find("[started:ok]") != std::string::npos;
  }));
  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(machine.inspect(instance).state == InstanceState::kRunning);
  const auto before = cove::test::processes_of(machine, instance);
  CHECK(machine.output(instance, "echo still") == "still\n");
  REQUIRE(machine.start(instance));
  CHECK(cove::test::processes_of(machine, instance).agent == before.agent);
  REQUIRE(machine.stop(instance));
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: twenty processes that start one epoch get one instance",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance{machine.new_volume(), Epoch{1}};
  REQUIRE(machine.create(instance.volume));
  std::vector<pid_t> children;
  std::vector<base::UniqueFd> outputs;
  for (int i = 0; i < 20; ++i) {
    const std::string path = machine.directory.path() + "/out" + std::to_string(i);
    outputs.emplace_back(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    children.push_back(cove::test::start_child("child: start an instance and end",
                                               words_of(machine, instance), *outputs.back()));
  }
  for (const pid_t child : children) REQUIRE(::waitpid(child, nullptr, 0) == child);
  for (int i = 0; i < 20; ++i) {
    const std::string said = read_file(machine.directory.path() + "/out" + std::to_string(i));
    CHECK_THAT(said, Catch::Contains("[started:ok]"));
  }
  CHECK(machine.output(instance, "ps -e -o comm= 2>/dev/null | grep -c agent || true; echo one")
            .find("one") != std::string::npos);
  const auto processes = cove::test::processes_of(machine, instance);
  CHECK(processes.agent != 0);
  CHECK(machine.list().instances.size() == 1);
  REQUIRE(machine.stop(instance));
  CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
}

TEST_CASE("Local provider: after kill -9 of a part the instance is gone and can be started",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  machine.output(instance, "echo kept > note; sleep 1000 > /dev/null 2>&1 < /dev/null &");
  const auto processes = cove::test::processes_of(machine, instance);
  REQUIRE(processes.agent != 0);
  const bool agent = GENERATE(true, false);
  REQUIRE(::kill(agent ? processes.agent : processes.bubblewrap, SIGKILL) == 0);
  REQUIRE(eventually([&] { return machine.inspect(instance).state == InstanceState::kGone; }));
  CHECK(eventually([&] { return !cove::test::is_alive(processes.agent); }));
  CHECK(machine.list().instances.empty());
  REQUIRE(machine.start(next_of(instance)));
  CHECK(machine.output(next_of(instance), "cat note") == "kept\n");
}

TEST_CASE("Local provider: the same epoch can be started again after it died",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  REQUIRE(::kill(cove::test::processes_of(machine, instance).agent, SIGKILL) == 0);
  REQUIRE(machine.start(instance));
  CHECK(machine.output(instance, "echo back") == "back\n");
}

TEST_CASE("Local provider: a volume that was moved away is told, and nothing is made",
          "[integration][local][any-user]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  const std::string path = machine.path_of(instance.volume);
  const std::string aside = machine.directory.path() + "/aside";
  SECTION("while it runs") {
    fs::rename(path, aside);
    CHECK(machine.connect(instance).error().code() == ErrorCode::kIntegrity);
    CHECK(machine.start(instance).error().code() == ErrorCode::kIntegrity);
    CHECK(machine.inspect(instance).state == InstanceState::kRunning);
    CHECK_FALSE(machine.inspect(instance).volume_present);
    CHECK_FALSE(fs::exists(path));
    REQUIRE(machine.stop(instance));
    CHECK(machine.inspect(instance).state == InstanceState::kGone);
  }
  SECTION("while it is stopped") {
    REQUIRE(machine.stop(instance));
    fs::rename(path, aside);
    CHECK(machine.start(next_of(instance)).error().code() == ErrorCode::kIntegrity);
    const CallContext call;
    CHECK(machine.wait(machine.provider->open_volume(instance.volume, VolumeAccess::kRead, call))
              .error()
              .code() == ErrorCode::kIntegrity);
    CHECK_FALSE(fs::exists(path));
    CHECK(cove::test::leftovers(machine) == std::vector<std::string>{});
  }
  SECTION("and another one stands in its place") {
    REQUIRE(machine.stop(instance));
    const VolumeRef other = machine.new_volume();
    REQUIRE(machine.create(other));
    fs::rename(path, aside);
    fs::rename(machine.path_of(other), path);
    CHECK(machine.start(next_of(instance)).error().code() == ErrorCode::kIntegrity);
    CHECK(machine.remove(instance.volume).error().code() == ErrorCode::kIntegrity);
    fs::rename(path, machine.path_of(other));
    REQUIRE(machine.remove(other));
  }
  fs::rename(aside, path);
  CHECK(machine.start(next_of(instance)));
}

TEST_CASE("Local provider: a state directory with a path of 300 bytes works",
          "[integration][local][any-user]") {
  const cove::test::TemporaryDirectory base;
  local::LocalOptions options;
  options.state_dir = base.path() + "/" + std::string(150, 'a') + "/" + std::string(150, 'b');
  LocalMachine machine(options);
  const InstanceRef instance = machine.start_new();
  CHECK(machine.output(instance, "echo far") == "far\n");
  LocalMachine other(options);
  CHECK(other.output(instance, "echo far") == "far\n");
}

TEST_CASE("Local provider: the host's process notices nothing of what it starts",
          "[integration][local][any-user]") {
  struct sigaction before{};
  static volatile sig_atomic_t signals = 0;
  struct sigaction counting{};
  counting.sa_handler = [](int) { signals = signals + 1; };
  ::sigaction(SIGCHLD, &counting, &before);
  signals = 0;
  {
    LocalMachine machine;
    const InstanceRef instance = machine.start_new();
    const auto processes = cove::test::processes_of(machine, instance);
    // Neither is this process's child.
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
    CHECK(::getpgid(processes.bubblewrap) != ::getpgid(0));
    CHECK(::getsid(processes.bubblewrap) != ::getsid(0));
    REQUIRE(machine.stop(instance));
    CHECK(::waitpid(-1, nullptr, WNOHANG | __WALL) == -1);
    CHECK(errno == ECHILD);
  }
  CHECK(signals == 0);
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST_CASE("Local provider: many calls at once share one connection and a pool of two",
          "[integration][local][any-user][threads]") {
  LocalMachine machine;
  const InstanceRef instance = machine.start_new();
  LocalMachine other([&] {
    local::LocalOptions options;
    options.state_dir = machine.state_dir();
    return options;
  }());
  std::vector<std::thread> callers;
  std::vector<Guest*> guests(16);
  for (std::size_t i = 0; i < guests.size(); ++i) {
    callers.emplace_back([&, i] { guests[i] = other.connect(instance).value().get(); });
  }
  for (auto& caller : callers) caller.join();
  for (const Guest* guest : guests) CHECK(guest == guests.front());
}

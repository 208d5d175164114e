// Calls that block go straight to the guest, while nothing speaks against it; what speaks against
// it is noticed as by any other call.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <cove/wait_check.hpp>

#include "base/system/system_clock.hpp"
#include "support/fixtures/live_cove.hpp"

using namespace cove;
using namespace std::chrono_literals;
using namespace cove::testing;
namespace fs = std::filesystem;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};
const SandboxId kSandbox = sandbox_id_of(kAna);

/// A workspace whose next blocking call takes a lane.
Workspace warm(const Cove& cove) {
  Workspace workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  for (int i = 0; i < 2; ++i) REQUIRE(shell(workspace.client(), "echo kept > note") == "");
  return workspace;
}

/// Descriptors of this process.
std::size_t descriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("Blocking calls: a stop in between wakes the workspace again", "[integration][runtime]") {
  const LiveCove live;
  const Cove cove = live.open();
  const Workspace workspace = warm(cove);
  cove.stop(kSandbox).value();
  CHECK(shell(workspace.client(), "cat note") == "kept");
  CHECK(shell(workspace.client(), "cat note") == "kept");
  cove.stop(kSandbox).value();
  cove.archive(kSandbox).value();
  CHECK(shell(workspace.client(), "cat note") == "kept");
}

TEST_CASE("Blocking calls: an instance that died is brought up again", "[integration][runtime]") {
  const LiveCove live;
  const Cove cove = live.open();
  const Workspace workspace = warm(cove);
  const std::string before = instance_name(workspace.client());
  for (const int process : processes_in(before)) ::kill(process, SIGKILL);
  while (!processes_in(before).empty()) std::this_thread::yield();
  CHECK(shell(workspace.client(), "cat note") == "kept");
  CHECK(instance_name(workspace.client()) != before);
}

TEST_CASE("Blocking calls: a volume that was moved away is missed by the next one",
          "[integration][runtime]") {
  const LiveCove live;
  const Cove cove = live.open();
  const Workspace workspace = warm(cove);
  const std::string volume = live.volume_path(cove.status(kSandbox).value().generation);
  REQUIRE_FALSE(volume.empty());
  fs::rename(volume, volume + ".away");
  const auto read = workspace.client().read_file("note");
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == ErrorCode::kIntegrity);
  fs::rename(volume + ".away", volume);
}

TEST_CASE("Blocking calls: a thread that may not wait on gets its command's end",
          "[integration][runtime]") {
  const LiveCove live;
  const Cove cove = live.open();
  const Workspace workspace = warm(cove);
  int asked = 0;
  set_wait_check([&] { return ++asked < 2; });
  const auto ended = workspace.client().exec({.argv = {"sleep", "1000"}});
  set_wait_check(nullptr);
  REQUIRE(ended.has_value());
  CHECK(std::holds_alternative<Cancelled>(ended->outcome));
  CHECK(asked == 2);
  CHECK(shell(workspace.client(), "pgrep sleep || echo none") == "none");
}

TEST_CASE("Blocking calls: a clock that jumps ends those whose time is over",
          "[integration][runtime]") {
  /// This machine's, some hours ahead.
  class Ahead final : public Clock {
   public:
    Instant now() const override { return machine_.now() + hours.load() * 1h; }
    std::atomic<int> hours{0};

   private:
    const base::SystemClock machine_;
  };
  const auto clock = std::make_shared<Ahead>();
  const LiveCove live;
  const Cove cove = Cove::open(live.config(), {.clock = clock}).value();
  const Workspace workspace = warm(cove);
  const std::jthread jump([&] {
    while (!workspace.client().stat("begun")) std::this_thread::yield();
    clock->hours = 2;
    cove.clock_moved();
  });
  const CallContext call{.deadline = clock->now() + 1h, .stop = {}};
  const ExecSpec spec{.argv = {"sh", "-c", "touch begun; exec sleep 100"}};
  CHECK(std::holds_alternative<TimedOut>(workspace.client().exec(spec, call).value().outcome));
}

TEST_CASE("Blocking calls: after a release, a destroy or a close they are refused",
          "[integration][runtime]") {
  const LiveCove live;
  Cove cove = live.open();
  Workspace workspace = warm(cove);
  const SandboxClient client = workspace.client();
  SECTION("a release") {
    workspace.release().value();
    CHECK(client.read_file("note").error().code() == ErrorCode::kFailedPrecondition);
  }
  SECTION("a destroy") {
    cove.destroy(kSandbox).value();
    CHECK(client.read_file("note").error().code() == ErrorCode::kNotFound);
  }
  SECTION("a close") {
    cove.close().value();
    CHECK(client.read_file("note").error().code() == ErrorCode::kFailedPrecondition);
  }
}

TEST_CASE("Blocking calls: many threads at once, and no descriptor is left of them",
          "[integration][runtime]") {
  const LiveCove live;
  const Cove cove = live.open();
  {
    const Workspace first = warm(cove);
  }
  const auto before = descriptors();
  {
    Workspace workspace = warm(cove);
    std::vector<std::jthread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 24; ++i) {
      threads.emplace_back([&, i] {
        const std::string name = "f" + std::to_string(i);
        const SandboxClient client = workspace.client();
        for (int round = 0; round < 20; ++round) {
          const std::string text = name + " " + std::to_string(round);
          const auto written = client.write_file(name, std::as_bytes(std::span(text)));
          const auto read = client.read_file(name);
          if (!written || !read || read->size() != text.size()) continue;
          if (shell(client, "cat " + name) == text) ++right;
        }
      });
    }
    threads.clear();
    CHECK(right == 24 * 20);
    workspace.release().value();
  }
  CHECK(descriptors() <= before + 1);
}

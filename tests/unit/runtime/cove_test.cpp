#include <algorithm>
#include <future>

#include <catch2/catch.hpp>

#include "support/fakes/fake_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::testing::FakeCove;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

std::size_t times(const std::vector<std::string>& calls, const std::string& name) {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), name));
}

}  // namespace

TEST_CASE("Cove: acquires, runs in the session, and lets go", "[unit][runtime][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  auto workspace = cove.acquire(kAna, {.chat_id = "a/b"}).value();
  CHECK(workspace.key() == kAna);
  CHECK(workspace.sandbox_id() == sandbox_id_of(kAna));
  CHECK(workspace.directory() == "/workspace/sessions/a%2Fb");
  CHECK(workspace.work() == AcquireWork::kProvisioned);
  CHECK(workspace.client().exec({.argv = {"x"}}).value().out.head == "sessions/a%2Fb:x");
  CHECK(cove.status(workspace.sandbox_id()).value().activity.size() == 1);

  REQUIRE(workspace.release());
  CHECK(cove.status(sandbox_id_of(kAna)).value().activity.empty());
  CHECK(workspace.release().error().code() == ErrorCode::kFailedPrecondition);
  CHECK(workspace.client().exec({.argv = {"x"}}).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(fake.provider->running() == 1);
}

TEST_CASE("Cove: without a chat the workspace itself is the directory", "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto workspace = cove.acquire(kAna).value();
  CHECK(workspace.directory() == "/workspace");
  CHECK(workspace.client().exec({.argv = {"x"}}).value().out.head == ":x");
  CHECK(times(fake.provider->guest_calls(), "make_directory") == 0);
}

TEST_CASE("Cove: a wrong configuration or key is refused and named", "[unit][runtime]") {
  FakeCove fake;
  auto config = fake.config();
  config.objects.type = "floppy";
  const auto refused = Cove::open(config, {.provider = fake.provider});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  CHECK(refused.error().message().find("objects.type must be one of") == 0);
  auto cove = fake.open();
  CHECK(cove.acquire({"app", "", "ana"}).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Cove: a session's directory is made once per instance", "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto count = [&] { return times(fake.provider->guest_calls(), "make_directory"); };
  const auto first = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const auto again = cove.acquire(kAna, {.chat_id = "c1"}).value();
  CHECK(count() == 1);
  CHECK(again.work() == AcquireWork::kNone);
  const auto other = cove.acquire(kAna, {.chat_id = "c2"}).value();
  CHECK(count() == 2);
  fake.provider->kill_all();
  REQUIRE(first.client().exec({.argv = {"x"}}));
  CHECK(count() == 3);
}

TEST_CASE("Cove: a call on a workspace whose instance was killed brings it up first",
          "[unit][runtime][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  fake.provider->kill_all();
  CHECK(workspace.client().exec({.argv = {"x"}}).value().out.head == "sessions/c1:x");
  CHECK(fake.provider->starts() == 2);
  fake.provider->kill_all();
  CHECK(cove.acquire(kAna).value().work() == AcquireWork::kResumed);
}

TEST_CASE("Cove: a running sandbox whose guest does not answer is not handed out",
          "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto workspace = cove.acquire(kAna).value();
  fake.provider->set_unreachable(true);
  const auto refused = cove.acquire(kAna);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
  CHECK(refused.error().retry_after().has_value());
  CHECK(refused.error().describe() == "sandbox '" + sandbox_id_of(kAna).str() +
                                          "' runs, but its guest does not answer: nothing answers");
  fake.provider->set_unreachable(false);
  CHECK(workspace.client().exec({.argv = {"x"}}));
  CHECK(fake.provider->starts() == 1);
}

TEST_CASE("Cove: the lease ends with the last of several handles", "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto leases = [&] { return cove.status(sandbox_id_of(kAna)).value().activity.size(); };
  auto first = cove.acquire(kAna, {.chat_id = "c1"}).value();
  {
    const auto second = cove.acquire(kAna, {.chat_id = "c2"}).value();
    REQUIRE(first.release());
    CHECK(leases() == 1);
    const auto client = second.client();
  }
  // The last copy's end was posted before this asks.
  CHECK(leases() == 0);
  CHECK(cove.acquire(kAna).value().work() == AcquireWork::kNone);
}

TEST_CASE("Cove: a client keeps its workspace held", "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto client = cove.acquire(kAna).value().client();
  CHECK(cove.status(sandbox_id_of(kAna)).value().activity.size() == 1);
  CHECK(client.exec({.argv = {"x"}}));
}

TEST_CASE("Cove: a workspace that was stopped meanwhile wakes with its next call",
          "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  REQUIRE(cove.stop(workspace.sandbox_id(), StopDrain::kCancel));
  CHECK(fake.provider->running() == 0);
  CHECK(workspace.client().exec({.argv = {"x"}}).value().out.head == "sessions/c1:x");
  CHECK(cove.status(workspace.sandbox_id()).value().state == SandboxState::kRunning);
}

TEST_CASE("Cove: a workspace that lapsed is acquired again by its next call", "[unit][runtime]") {
  FakeCove fake;
  auto config = fake.config();
  config.lifecycle.activity_idle = 0ms;  // every call finds it lapsed
  auto cove = fake.open(config);
  auto other = cove.acquire(kAna).value();
  const auto workspace = cove.acquire(kAna).value();
  REQUIRE(workspace.client().exec({.argv = {"x"}}));
  const auto record = cove.status(workspace.sandbox_id()).value();
  CHECK(record.activity.size() == 1);
  CHECK(fake.provider->starts() == 1);
}

TEST_CASE("Cove: a workspace that was destroyed is not begun anew by a forgotten handle",
          "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  auto workspace = cove.acquire(kAna).value();
  REQUIRE(cove.destroy(workspace.sandbox_id()));
  CHECK(workspace.client().exec({.argv = {"x"}}).error().code() == ErrorCode::kNotFound);
  CHECK(cove.status(sandbox_id_of(kAna)).error().code() == ErrorCode::kNotFound);
  CHECK(workspace.release());
  CHECK(cove.acquire(kAna).value().work() == AcquireWork::kProvisioned);
}

TEST_CASE("Cove: what another process destroyed is destroyed, not damaged", "[unit][runtime]") {
  FakeCove fake;
  Config shared = fake.config();
  shared.metadata.type = "sqlite";
  auto cove = fake.open(shared);
  auto other = fake.open(shared);
  const auto workspace = cove.acquire(kAna).value();
  REQUIRE(other.destroy(sandbox_id_of(kAna)));
  const auto refused = workspace.client().exec({.argv = {"x"}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kNotFound);
  const auto anew = cove.acquire(kAna);
  REQUIRE(anew);
  CHECK(anew->work() == AcquireWork::kProvisioned);
  // Where the record still names it, it is damage.
  fake.provider->lose_volumes();
  const auto damaged = anew->client().exec({.argv = {"x"}});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Cove: adopts a record by its sandbox id, for its own key only", "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  const SandboxId old("0123456789abcdef");
  CHECK(cove.acquire(kAna, {.sandbox = old}).value().sandbox_id() == old);
  const auto refused = cove.acquire({"app", "demo", "bob"}, {.sandbox = old});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kConflict);
  CHECK(cove.status(sandbox_id_of(kAna)).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Cove: an exception of a part becomes kInternal", "[unit][runtime]") {
  FakeCove fake;
  auto cove = fake.open();
  fake.provider->throw_once();
  const auto broken = cove.acquire(kAna);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code() == ErrorCode::kInternal);
  CHECK(broken.error().message() == "unexpected: the provider broke");
  CHECK(cove.acquire(kAna));
}

TEST_CASE("Cove: two hundred acquires of one sandbox at once start one instance",
          "[unit][runtime][threads]") {
  FakeCove fake;
  auto cove = fake.open();
  std::promise<void> all;
  std::atomic<int> left{200};
  std::atomic<int> good{0};
  for (int i = 0; i < 200; ++i) {
    cove.acquire_async(kAna, {.chat_id = std::to_string(i % 10)}, {}, [&](Result<Workspace> got) {
      if (got) ++good;
      if (--left == 0) all.set_value();
    });
  }
  all.get_future().get();
  CHECK(good == 200);
  CHECK(fake.provider->starts() == 1);
  REQUIRE(cove.close());
}

TEST_CASE("Cove: sweeps by itself where the configuration says so", "[unit][runtime][threads]") {
  struct Watcher final : LifecycleObserver {
    std::promise<void> stopped;
    bool told = false;
    void on_event(const LifecycleEvent& event) override {
      const bool now = event.completed && event.state == SandboxState::kStopped;
      if (now && !std::exchange(told, true)) stopped.set_value();
    }
  };
  FakeCove fake;
  auto config = fake.config();
  config.sweep_every = 5ms;
  config.lifecycle.stop_after = 0ms;
  const auto watcher = std::make_shared<Watcher>();
  auto cove = fake.open(config, {.observer = watcher});
  REQUIRE(cove.acquire(kAna).value().release());
  watcher->stopped.get_future().get();
  CHECK(fake.provider->running() == 0);
}

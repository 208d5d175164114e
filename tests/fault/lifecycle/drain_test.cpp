// A stop that lets what runs finish, and deletions that nobody waits for.
#include <catch2/catch.hpp>

#include "support/fixtures/sim_calls.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

const SandboxId& sandbox() {
  static const SandboxId id = sandbox_id_of(key_of("ana"));
  return id;
}

struct World {
  SimCluster cluster{5};
  SimProcess& process = cluster.start();
  SimNode& node = cluster.node("m1");

  InstanceRef wake() {
    const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
    REQUIRE(node.write(acquired.instance, "precious", "file"));
    return acquired.instance;
  }
  Record record() { return *cluster.store.record(sandbox()); }
  Pending<Result<void>> stop(StopDrain drain, std::chrono::milliseconds wait) {
    return begin_on(process, stop_with(process.manager(), sandbox(), StopOptions{drain, wait}));
  }
  /// Lets an archive get past its upload and no further for many seconds.
  Pending<Result<void>> hanging_archive(SimProcess& by) {
    cluster.finish(process.stop(sandbox(), StopDrain::kCancel)).value();
    const auto archived = by.archive(sandbox());
    cluster.world.run_until([&] {
      const auto& operation = record().operation;
      return operation && operation->phase == Phase::kArchiveUploaded;
    });
    cluster.world.faults.draw(1, {{SimFaultKind::kSlow, 100'000}});
    cluster.world.run_for(20ms);
    cluster.world.faults.end();
    return archived;
  }
};

Task<bool> close_within(LifecycleManager& manager, Instant deadline) {
  const CallContext call{.deadline = deadline, .stop = {}};
  co_await manager.close(call);
  co_return true;
}

}  // namespace

TEST_CASE_METHOD(World, "stop: with time to wait it lets what runs finish, then stops",
                 "[fault][lifecycle][drain]") {
  const InstanceRef instance = wake();
  node.instances[instance].running_commands = 1;
  const auto stopped = stop(StopDrain::kRefuse, 1min);
  cluster.world.run_for(30s);
  CHECK_FALSE(stopped->has_value());
  CHECK(node.instances.contains(instance));
  node.instances[instance].running_commands = 0;
  const Instant before = cluster.world.now();
  CHECK(cluster.finish(stopped));
  CHECK(cluster.world.now() - before < 1s);
  CHECK(record().state == SandboxState::kStopped);
}

TEST_CASE_METHOD(World, "stop: what has not finished in time forbids it, or is cancelled",
                 "[fault][lifecycle][drain]") {
  const InstanceRef instance = wake();
  node.instances[instance].running_commands = 1;
  const Instant before = cluster.world.now();
  SECTION("forbids") {
    const auto refused = cluster.finish(stop(StopDrain::kRefuse, 10s));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
    CHECK(record().state == SandboxState::kRunning);
    CHECK_FALSE(record().operation);
    CHECK(record().failures == 0);
    CHECK(node.instances.contains(instance));
  }
  SECTION("cancelled") {
    CHECK(cluster.finish(stop(StopDrain::kCancel, 10s)));
    CHECK(record().state == SandboxState::kStopped);
  }
  CHECK(cluster.world.now() - before >= 10s);
  CHECK(cluster.world.now() - before < 12s);
}

TEST_CASE_METHOD(World, "stop: nobody gets in while it lets what runs finish",
                 "[fault][lifecycle][drain]") {
  const InstanceRef instance = wake();
  node.instances[instance].running_commands = 1;
  SimProcess& other = cluster.start();
  const auto stopped = stop(StopDrain::kRefuse, 1min);
  cluster.world.run_for(1s);
  const auto here = process.acquire(key_of("ana"));
  const auto there = other.acquire(key_of("ana"));
  cluster.world.run_for(20s);
  CHECK_FALSE(here->has_value());
  CHECK_FALSE(there->has_value());
  node.instances[instance].running_commands = 0;
  CHECK(cluster.finish(stopped));
  CHECK(cluster.finish(here));
  CHECK(cluster.finish(there));
  CHECK(record().state == SandboxState::kRunning);
  CHECK(record().epoch > instance.epoch);
  CHECK(cluster.files_of(sandbox()).size() == 1);
}

TEST_CASE_METHOD(World, "stop: a holder that dies while it lets others finish leaves it running",
                 "[fault][lifecycle][drain]") {
  const InstanceRef instance = wake();
  node.instances[instance].running_commands = 1;
  SimProcess& other = cluster.start();
  static_cast<void>(stop(StopDrain::kRefuse, 1min));
  cluster.world.run_for(1s);
  process.host().crash();
  CHECK(cluster.finish(other.acquire(key_of("ana"))).value().work == AcquireWork::kNone);
  CHECK(node.instances.contains(instance));
}

TEST_CASE_METHOD(World, "stop: an impossible time to wait is refused",
                 "[fault][lifecycle][drain]") {
  wake();
  const std::chrono::milliseconds wrong =
      GENERATE(std::chrono::milliseconds(-1), std::chrono::milliseconds(2h));
  const auto refused = cluster.finish(stop(StopDrain::kRefuse, wrong));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(World, "acquire: gets in at once while an archive's deletions hang",
                 "[fault][lifecycle][pain-25]") {
  wake();
  const bool same_process = GENERATE(true, false);
  SimProcess& archiver = same_process ? process : cluster.start();
  const auto archived = hanging_archive(archiver);
  const Instant before = cluster.world.now();
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kRestored);
  CHECK(cluster.world.now() - before < 1s);
  CHECK(cluster.files_of(sandbox()).size() == 1);
  const auto told = cluster.finish(archived);
  REQUIRE_FALSE(told);
  CHECK(told.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(record().state == SandboxState::kRunning);
  cluster.world.run_for(2min);
  cluster.finish(process.sweep()).value();
  CHECK(node.volumes.size() == 1);
  CHECK(record().garbage.empty());
  CHECK(cluster.world.violations().empty());
}

TEST_CASE_METHOD(World, "close: what goes on is waited for past the time, since it uses the parts",
                 "[fault][lifecycle]") {
  wake();
  const auto archived = hanging_archive(process);
  const Instant begun = cluster.world.now();
  const auto closed = begin_on(process, close_within(process.manager(), begun + 5s));
  cluster.world.run_until([&] { return closed->has_value(); });
  CHECK(cluster.world.now() - begun > 5s);
  CHECK(archived->has_value());
}

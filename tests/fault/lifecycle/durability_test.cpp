// What a machine without power may lose, and what not. Found by the simulation.
#include <algorithm>

#include <catch2/catch.hpp>

#include "support/sim/sim_cluster.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

struct World {
  SimCluster cluster{11};
  SimProcess& process = cluster.start();
  SimNode& node = cluster.node("m1");
  SandboxId sandbox = sandbox_id_of(key_of("ana"));

  InstanceRef wake() {
    const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
    REQUIRE(node.write(acquired.instance, "precious", "file"));
    return acquired.instance;
  }

  void lose_power() {
    process.host().crash();
    node.lose_power();
    cluster.store.lose_power();
  }

  void check_kept() {
    CHECK(cluster.store.record(sandbox)->state == SandboxState::kStopped);
    CHECK(cluster.files_of(sandbox) == SimFiles{{"precious", "file"}});
    SimProcess& next = cluster.start();
    CHECK(cluster.finish(next.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
    CHECK(cluster.world.violations().empty());
  }
};

}  // namespace

TEST_CASE_METHOD(World, "stop: what was written is on disk when it is done",
                 "[fault][lifecycle][pain-2]") {
  wake();
  cluster.finish(process.stop(sandbox)).value();
  lose_power();
  check_kept();
}

TEST_CASE_METHOD(World, "stop: also where the instance had ended by itself before",
                 "[fault][lifecycle][pain-2]") {
  wake();
  node.reboot();
  cluster.finish(process.stop(sandbox)).value();
  lose_power();
  check_kept();
}

TEST_CASE_METHOD(World, "stop: also where the guest did not answer and was ended all the same",
                 "[fault][lifecycle][pain-2]") {
  wake();
  node.failing.emplace("connect", Error(ErrorCode::kUnavailable, "no answer"));
  cluster.finish(process.stop(sandbox, StopDrain::kCancel)).value();
  node.failing.clear();
  lose_power();
  check_kept();
}

TEST_CASE_METHOD(World, "restore: a store that forgets while a heartbeat is due repeats no step",
                 "[fault][lifecycle][pain-2]") {
  cluster.world.record_points(true);
  wake();
  cluster.finish(process.archive(sandbox)).value();
  const auto acquired = process.acquire(key_of("ana"));
  cluster.world.run_until([&] {
    const auto record = cluster.store.record(sandbox);
    return record->operation && record->operation->phase == Phase::kVolumeCreated;
  });
  // The answer to the next swap takes so long that a heartbeat is due before the next step.
  const auto& points = cluster.world.points();
  const auto swaps = std::count_if(points.begin(), points.end(), [](const std::string& point) {
    return point.starts_with("swap") && point.ends_with(":before");
  });
  const SimFault slow{SimFaultKind::kSlow, 0, "swap", static_cast<std::uint64_t>(swaps) + 1,
                      (12'000U << 1U) | 1U};
  cluster.world.faults.play({slow});
  cluster.world.on_power_loss = [this](const std::string&) { cluster.store.lose_power(); };
  cluster.world.forget_at("swap restore snapshot_restored:before", 2);
  const auto woken = cluster.finish(acquired);
  REQUIRE(woken.has_value());
  CHECK(woken->work == AcquireWork::kRestored);
  CHECK(cluster.world.faults.happened().size() == 1);
  CHECK(cluster.files_of(sandbox) == SimFiles{{"precious", "file"}});
  CHECK(cluster.world.violations().empty());
}

TEST_CASE_METHOD(World, "lost: a start that comes once more does not run beside the record",
                 "[fault][lifecycle][pain-2]") {
  cluster.world.faults.play({{SimFaultKind::kRepeated, 0, "start_instance", 1, 4000}});
  const InstanceRef instance = wake();
  node.reboot();
  CHECK(cluster.finish(process.report_unreachable(instance)).value());
  CHECK(cluster.world.faults.happened().size() == 1);
  cluster.world.run_for(10s);
  CHECK(node.instances.empty());
  CHECK(cluster.store.record(sandbox)->state == SandboxState::kStopped);
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
}

TEST_CASE_METHOD(World, "stop: a host that stood still ends nothing that was taken back meanwhile",
                 "[fault][lifecycle][pain-2]") {
  const InstanceRef instance = wake();
  SimProcess& other = cluster.start();
  int ended = 0;
  node.on_stop = [&](const InstanceRef&) {
    ++ended;
    CHECK(cluster.store.record(sandbox)->operation.has_value());
  };
  node.failing.emplace("connect", Error(ErrorCode::kUnavailable, "no answer"));
  const auto stopped = process.stop(sandbox, StopDrain::kCancel);
  cluster.world.record_points(true);
  cluster.world.run_until([&] {
    const auto& points = cluster.world.points();
    return !points.empty() && points.back() == "inspect:after";
  });
  process.host().pause_until(cluster.world.now() + 1min);
  cluster.world.run_for(40s);
  CHECK(cluster.finish(other.acquire(key_of("ana"))).value().instance == instance);
  CHECK(ended == 0);
  cluster.finish(stopped).value();  // asked for once more, by a claim of its own
  CHECK(ended == 1);
  lose_power();
  check_kept();
}

// What a machine without power may lose, and what not. Found by the simulation.
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

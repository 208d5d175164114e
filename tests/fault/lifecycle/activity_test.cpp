// Activity leases end with their use, and so do the timers that renew them.
#include <catch2/catch.hpp>

#include "lifecycle/rules/transitions.hpp"
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
  SimCluster cluster{8};
  SimProcess& process = cluster.start();

  void wake(const char* user = "ana") { cluster.finish(process.acquire(key_of(user))).value(); }
  std::size_t timers() const { return process.host().timers(); }
  bool in_use() {
    const auto record = cluster.store.record(sandbox());
    return record && lifecycle::has_live_lease(*record, cluster.world.store_time(), OwnerId());
  }
};

}  // namespace

TEST_CASE_METHOD(World, "Activity: the last workspace that is let go of takes the timer with it",
                 "[fault][lifecycle]") {
  REQUIRE(timers() == 0);
  wake("ana");
  wake("bob");
  CHECK(timers() == 1);
  cluster.finish(process.release(sandbox())).value();
  CHECK(timers() == 1);
  cluster.finish(process.release(sandbox_id_of(key_of("bob")))).value();
  CHECK(timers() == 0);
  CHECK_FALSE(in_use());
}

TEST_CASE_METHOD(World, "Activity: a workspace that its owner forgot leaves no timer behind",
                 "[fault][lifecycle]") {
  wake();
  cluster.world.run_for(4min);
  CHECK(in_use());
  CHECK(process.manager().touch(sandbox()));
  cluster.world.run_for(10min);
  CHECK_FALSE(in_use());
  CHECK(timers() == 0);
  // Whoever comes back is told that this is no use of it any more, and acquires again.
  CHECK_FALSE(process.manager().touch(sandbox()));
  wake();
  CHECK(process.manager().touch(sandbox()));
  CHECK(in_use());
  CHECK(timers() == 1);
}

TEST_CASE_METHOD(World, "Activity: a release that the store does not hear leaves no timer behind",
                 "[fault][lifecycle]") {
  wake();
  cluster.world.faults.draw(1, {{SimFaultKind::kLostRequest, 100'000}});
  CHECK_FALSE(cluster.finish(process.release(sandbox())));
  cluster.world.faults.end();
  CHECK(timers() == 0);
  cluster.world.run_for(2min);
  CHECK_FALSE(in_use());
}

TEST_CASE_METHOD(World, "Activity: a renewal under way does not bring back what was let go of",
                 "[fault][lifecycle]") {
  wake();
  cluster.world.record_points(true);
  const auto renews = [&] {
    const auto& points = cluster.world.points();
    return !points.empty() && points.back() == "find:after";
  };
  REQUIRE(cluster.world.run_until(renews));
  cluster.finish(process.release(sandbox())).value();
  cluster.world.run_for(1s);
  CHECK_FALSE(in_use());
  CHECK(timers() == 0);
}

TEST_CASE_METHOD(World, "Activity: waiters whom the store left in the queue leave no timer behind",
                 "[fault][lifecycle]") {
  SimProcess& other = cluster.start();
  cluster.world.faults.draw(1, {{SimFaultKind::kSlow, 100'000}});
  std::vector<Pending<Result<AcquiredInstance>>> queue;
  const CallContext call{process.host().now() + 2s, {}};
  for (int i = 0; i < 5; ++i) queue.push_back(process.acquire(key_of("ana"), call));
  for (const auto& waiter : queue) static_cast<void>(cluster.finish(waiter));
  cluster.world.faults.end();
  // What was begun is finished for whoever comes next; nobody came.
  cluster.world.run_for(20min);
  CHECK(timers() == 0);
  CHECK(other.host().timers() == 0);
  CHECK_FALSE(in_use());
}

#include <catch2/catch.hpp>

#include "support/sim/sim_cluster.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

TEST_CASE("LifecycleManager: a workspace lives, sleeps, is archived and wakes with its files",
          "[fault][lifecycle][pain-1][pain-12]") {
  SimCluster cluster(1);
  SimProcess& process = cluster.start();
  const auto first = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(first.work == AcquireWork::kProvisioned);
  const SandboxId id = first.instance.volume.sandbox;
  REQUIRE(process.node().write(first.instance, "a", "1"));
  cluster.finish(process.stop(id)).value();
  CHECK(cluster.store.record(id)->state == SandboxState::kStopped);
  const auto second = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(second.work == AcquireWork::kResumed);
  REQUIRE(process.node().write(second.instance, "b", "2"));
  cluster.finish(process.archive(id)).value();
  CHECK(cluster.store.record(id)->state == SandboxState::kArchived);
  CHECK(process.node().volumes.empty());
  const auto third = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(third.work == AcquireWork::kRestored);
  CHECK(cluster.files_of(id) == SimFiles{{"a", "1"}, {"b", "2"}});
  cluster.finish(process.destroy(id)).value();
  CHECK_FALSE(cluster.store.record(id));
  CHECK(process.node().volumes.empty());
  CHECK(cluster.objects.objects.empty());
  CHECK(cluster.store.count(DocumentKind::kTombstone) == 1);
  CHECK(cluster.world.violations().empty());
}

TEST_CASE("LifecycleManager: close waits for a call whose claim is under way, and gives it back",
          "[fault][lifecycle][pain-12]") {
  SimCluster cluster(1);
  SimProcess& leaving = cluster.start("m1");
  SimProcess& other = cluster.start("m2");
  const SandboxId id = sandbox_id_of(key_of("ana"));
  cluster.finish(leaving.acquire(key_of("ana"))).value();
  cluster.finish(leaving.archive(id)).value();
  const auto acquired = leaving.acquire(key_of("ana"));
  cluster.world.run_until([&] { return cluster.store.record(id)->operation.has_value(); });
  REQUIRE_FALSE(acquired->has_value());  // the answer to its claim is on the way
  cluster.finish(leaving.close());
  REQUIRE(acquired->has_value());
  CHECK(acquired->value().error().code() == ErrorCode::kCancelled);
  CHECK_FALSE(cluster.store.record(id)->operation.has_value());
  const Instant asked = cluster.world.now();
  CHECK(cluster.finish(other.acquire(key_of("ana"))).value().work == AcquireWork::kRestored);
  CHECK(cluster.world.now() - asked < 5s);  // no heartbeat had to grow old
  CHECK(cluster.world.violations().empty());
}

#include <catch2/catch.hpp>

#include "support/sim/sim_cluster.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

TEST_CASE("destroy_source: nothing of it is left, and nothing new can be made until it is revived",
          "[fault][lifecycle]") {
  SimCluster cluster(9);
  SimProcess& process = cluster.start();
  for (const char* user : {"ana", "bob", "cem"}) {
    cluster.finish(process.acquire(key_of(user))).value();
  }
  const WorkspaceKey other{"app", "other", "ana"};
  cluster.finish(process.acquire(other)).value();
  cluster.finish(process.archive(sandbox_id_of(key_of("bob")), StopDrain::kCancel)).value();
  CHECK(cluster.finish(process.destroy_source("app/demo")).value() == 3);
  CHECK(cluster.store.records().size() == 1);
  CHECK(cluster.node("m1").volumes.size() == 1);
  const auto refused = cluster.finish(process.acquire(key_of("ana")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(cluster.node("m1").volumes.size() == 1);
  CHECK(cluster.finish(process.acquire(other)).value().work == AcquireWork::kNone);
  cluster.finish(process.revive_source("app/demo")).value();
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kProvisioned);
}

TEST_CASE("destroy_source: a provision in the same moment does not survive it",
          "[fault][lifecycle]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SimCluster cluster(seed);
    SimProcess& maker = cluster.start();
    SimProcess& destroyer = cluster.start();
    const auto acquired = maker.acquire(key_of("ana"));
    cluster.world.run_for(std::chrono::microseconds(seed * 500));
    REQUIRE(cluster.finish(destroyer.destroy_source("app/demo")));
    const auto result = cluster.finish(acquired);
    cluster.world.run_for(5min);
    cluster.finish(destroyer.sweep()).value();
    INFO("seed " << seed << ", acquired " << result.has_value());
    CHECK(cluster.store.records().empty());
    CHECK(cluster.node("m1").volumes.empty());
    CHECK(cluster.node("m1").instances.empty());
    CHECK(cluster.world.violations().empty());
  }
}

#include "snapshot/snapshot_list.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "support/fixtures/snapshot_fixture.hpp"
#include "support/trees/tree_builder.hpp"

using namespace cove;
using cove::test::SnapshotFixture;
using cove::test::TreeBuilder;

namespace {

struct Saved {
  SnapshotFixture fixture;

  Saved() { TreeBuilder(fixture.source.path()).file("note", "hello"); }

  SnapshotRef save(SnapshotOwner owner, const std::string& attempt) {
    const OperationId id(attempt);
    const CallContext call;
    return base::sync_wait(fixture.loop, fixture.snapshotter->save(fixture.source, owner, id, call))
        .value();
  }
  FoundSnapshots find(const DeploymentId& deployment) {
    const CallContext call;
    const std::string after;
    return base::sync_wait(fixture.loop, fixture.snapshotter->find(deployment, after, call))
        .value();
  }
  std::vector<DeploymentId> deployments() {
    const CallContext call;
    return base::sync_wait(fixture.loop, fixture.snapshotter->deployments(call)).value();
  }
};

SnapshotOwner owner_in(const std::string& deployment, const std::string& sandbox) {
  SnapshotOwner owner = test::test_owner();
  owner.deployment = DeploymentId(deployment);
  owner.sandbox = SandboxId(sandbox);
  owner.saved_at = StoreTime(std::chrono::seconds(77));
  return owner;
}

}  // namespace

TEST_CASE("Snapshotter: finds the deployments that have snapshots", "[unit][snapshot]") {
  Saved saved;
  CHECK(saved.deployments().empty());
  saved.save(owner_in("d1", "app-1"), "a1");
  saved.save(owner_in("d1", "app-2"), "a1");
  saved.save(owner_in("d10", "app-1"), "a1");
  saved.save(owner_in("d2", "app-1"), "a1");
  const auto found = saved.deployments();
  CHECK(std::set<DeploymentId>(found.begin(), found.end()) ==
        std::set<DeploymentId>{DeploymentId("d1"), DeploymentId("d10"), DeploymentId("d2")});
  CHECK(found.size() == 3);
}

TEST_CASE("Snapshotter: a snapshot found is the one that was saved", "[unit][snapshot]") {
  Saved saved;
  const SnapshotOwner owner = owner_in("d1", "app-1");
  const SnapshotRef snapshot = saved.save(owner, "a1");
  saved.save(owner_in("d2", "app-1"), "a1");
  const FoundSnapshots found = saved.find(DeploymentId("d1"));
  CHECK(found.next.empty());
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].problem.empty());
  CHECK(found.found[0].snapshot == snapshot);
  CHECK(found.found[0].attempt == OperationId("a1"));
  CHECK(found.found[0].owner.key == owner.key);
  CHECK(found.found[0].owner.sandbox == owner.sandbox);
  CHECK(found.found[0].owner.incarnation == owner.incarnation);
  CHECK(found.found[0].owner.saved_at == owner.saved_at);
}

TEST_CASE("Snapshotter: says what is wrong with a snapshot that it finds", "[unit][snapshot]") {
  Saved saved;
  const SnapshotRef snapshot = saved.save(owner_in("d1", "app-1"), "a1");
  const std::string data = snapshot.objects[0].key.str();
  const std::string manifest = snapshot.objects[1].key.str();
  const auto problem = [&] {
    const FoundSnapshots found = saved.find(DeploymentId("d1"));
    REQUIRE(found.found.size() == 1);
    return found.found[0].problem;
  };
  SECTION("its data is missing") {
    saved.fixture.objects.remove(data).value();
    CHECK_THAT(problem(), Catch::Contains(data) && Catch::Contains("missing"));
  }
  SECTION("its data is cut") {
    saved.fixture.objects.remove(data).value();
    saved.fixture.objects.put(data, "x").value();
    CHECK_THAT(problem(), Catch::Contains("has 1 bytes"));
  }
  SECTION("its manifest is none") {
    saved.fixture.objects.remove(manifest).value();
    saved.fixture.objects.put(manifest, "{}").value();
    CHECK_THAT(problem(), Catch::Contains(manifest));
    const FoundSnapshots found = saved.find(DeploymentId("d1"));
    CHECK(found.found[0].owner.key == WorkspaceKey{});
    CHECK(found.found[0].owner.sandbox == SandboxId("app-1"));
    CHECK(found.found[0].attempt == OperationId("a1"));
  }
  SECTION("it lies where another's would") {
    const std::string text = saved.fixture.objects.get(manifest).value();
    saved.fixture.objects.remove(manifest).value();
    saved.fixture.objects.put("cove/v1/d1/app-2/i/a/manifest.json", text).value();
    CHECK_THAT(problem(), Catch::Contains("another place"));
  }
}

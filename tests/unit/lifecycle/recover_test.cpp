// Making records again: what counts, what is kept, and what a person has to decide.
#include <catch2/catch.hpp>

#include "metadata/memory/memory_store.hpp"
#include "support/fakes/fake_provider.hpp"
#include "support/fakes/stepped_scheduler.hpp"
#include "support/fixtures/lease_hosts.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

/// Has no snapshots but those that a test tells of.
class ToldSnapshots final : public Snapshotter {
 public:
  std::map<DeploymentId, std::vector<FoundSnapshot>> told;

  Task<Result<SnapshotRef>> save(OfflineVolume&, const SnapshotOwner&, const OperationId&,
                                 const CallContext&) override {
    co_return unused();
  }
  Task<Result<void>> verify(const SnapshotRef&, const CallContext&) override { co_return unused(); }
  Task<Result<void>> restore(const SnapshotRef&, OfflineVolume&, const CallContext&) override {
    co_return unused();
  }
  Task<Result<void>> remove(const SnapshotRef&, const CallContext&) override { co_return ok(); }
  Task<Result<void>> remove_all(const SnapshotOwner&, const OperationId&,
                                const CallContext&) override {
    co_return ok();
  }
  Task<Result<std::vector<DeploymentId>>> deployments(const CallContext&) override {
    std::vector<DeploymentId> names;
    for (const auto& [name, snapshots] : told) names.push_back(name);
    co_return names;
  }
  /// One a page.
  Task<Result<FoundSnapshots>> find(const DeploymentId& deployment, const std::string& after,
                                    const CallContext&) override {
    const auto& all = told[deployment];
    const std::size_t at = after.empty() ? 0 : std::stoul(after);
    FoundSnapshots page;
    if (at < all.size()) page.found.push_back(all[at]);
    if (at + 1 < all.size()) page.next = std::to_string(at + 1);
    co_return page;
  }

 private:
  static Error unused() { return Error(ErrorCode::kUnsupported, "not for this test"); }
};

const DeploymentId kOld("old");

FoundSnapshot found(const WorkspaceKey& key, const std::string& attempt, int saved_at) {
  FoundSnapshot snapshot;
  snapshot.owner = {kOld, sandbox_id_of(key), Incarnation("i1"), key,
                    StoreTime(std::chrono::seconds(saved_at))};
  snapshot.attempt = OperationId(attempt);
  snapshot.snapshot.objects.push_back({ObjectKey(attempt), 1, std::string(64, 'a')});
  return snapshot;
}

const WorkspaceKey kAna{"app", "demo", "ana"};
const WorkspaceKey kBob{"app", "demo", "bob"};

struct World {
  test::SteppedScheduler scheduler;
  std::shared_ptr<MetadataStore> store = metadata::make_memory_store(scheduler);
  FakeProvider provider{scheduler};
  ToldSnapshots snapshots;
  test::CountingIds ids;
  std::set<OwnerId> dead;
  test::KnownOwners owners{"m1/p1", dead};
  std::unique_ptr<LifecycleManager> manager = open();

  std::unique_ptr<LifecycleManager> open() {
    const CallContext call;
    LifecycleParts parts{*store, provider, snapshots, scheduler, scheduler, ids, owners};
    return scheduler.run(LifecycleManager::open(std::move(parts), {}, call)).value();
  }
  Result<RecoverReport> recover(const DeploymentId& deployment = {}) {
    const CallContext call;
    return scheduler.run(manager->recover(deployment, call));
  }
  Record record(const WorkspaceKey& key) {
    const CallContext call;
    const SandboxId sandbox = sandbox_id_of(key);
    return scheduler.run(manager->find(sandbox, call)).value();
  }
  void add_volume(const WorkspaceKey& key, const std::string& generation) {
    const CallContext call;
    const VolumeRef volume{kOld, sandbox_id_of(key), Generation(generation)};
    scheduler.run(provider.create_volume(volume, call)).value();
  }
  void destroy(const WorkspaceKey& key) {
    const CallContext call;
    const SandboxId sandbox = sandbox_id_of(key);
    scheduler.run(manager->destroy(sandbox, call)).value();
  }
};

}  // namespace

TEST_CASE_METHOD(World, "recover: each sandbox is archived with its newest snapshot",
                 "[unit][lifecycle][recover]") {
  snapshots.told[kOld] = {found(kAna, "first", 10), found(kAna, "newest", 30),
                          found(kAna, "second", 20), found(kBob, "only", 10)};
  const RecoverReport report = recover().value();
  CHECK(report.deployment == kOld);
  CHECK(report.archived == 2);
  CHECK(report.problems.empty());
  CHECK(manager->deployment() == kOld);
  CHECK(open()->deployment() == kOld);
  const Record ana = record(kAna);
  CHECK(ana.state == SandboxState::kArchived);
  CHECK(ana.key == kAna);
  CHECK(ana.incarnation == Incarnation("i1"));
  CHECK(ana.snapshot->objects[0].key == ObjectKey("newest"));
  CHECK(number_of(ana.epoch) > 0);
}

TEST_CASE_METHOD(World, "recover: may be repeated, and overwrites nothing",
                 "[unit][lifecycle][recover]") {
  snapshots.told[kOld] = {found(kAna, "first", 10)};
  REQUIRE(recover());
  snapshots.told[kOld] = {found(kAna, "later", 20), found(kBob, "only", 10)};
  const RecoverReport again = recover().value();
  CHECK(again.kept == 1);
  CHECK(again.archived == 1);
  CHECK(record(kAna).snapshot->objects[0].key == ObjectKey("first"));
}

TEST_CASE_METHOD(World, "recover: a volume on this node counts before a snapshot",
                 "[unit][lifecycle][recover]") {
  FoundSnapshot damaged = found(kAna, "first", 10);
  damaged.problem = "'first' is missing";
  snapshots.told[kOld] = {damaged};
  add_volume(kAna, "g1");
  add_volume(kBob, "g2");
  const RecoverReport report = recover().value();
  CHECK(report.stopped == 1);
  const Record ana = record(kAna);
  CHECK(ana.state == SandboxState::kStopped);
  CHECK(ana.generation == Generation("g1"));
  CHECK(ana.node == NodeId("here"));
  CHECK(number_of(ana.epoch) > 1);
  CHECK_FALSE(ana.needs_attention.empty());
  REQUIRE(report.problems.size() == 1);  // nothing says whose the other volume is
  CHECK(report.problems[0].find(sandbox_id_of(kBob).str()) != std::string::npos);
}

TEST_CASE_METHOD(World, "recover: what cannot be decided is named and left alone",
                 "[unit][lifecycle][recover]") {
  FoundSnapshot damaged = found(kAna, "newest", 20);
  damaged.problem = "'newest' is missing";
  snapshots.told[kOld] = {damaged, found(kBob, "only", 10)};
  add_volume(kBob, "g1");
  add_volume(kBob, "g2");
  const RecoverReport report = recover().value();
  CHECK(report.archived == 0);
  CHECK(report.stopped == 0);
  REQUIRE(report.problems.size() == 2);
  CHECK(report.problems[0].find("damaged") != std::string::npos);
  CHECK(report.problems[1].find("several volumes") != std::string::npos);
}

TEST_CASE_METHOD(World, "recover: falls back from a damaged snapshot to the newest whole one",
                 "[unit][lifecycle][recover]") {
  FoundSnapshot damaged = found(kAna, "newest", 30);
  damaged.problem = "'newest' is missing";
  snapshots.told[kOld] = {found(kAna, "first", 10), damaged, found(kAna, "second", 20),
                          found(kBob, "whole", 40)};
  SECTION("whose data are not whole") {}
  SECTION("whose manifest cannot be read, so that nobody knows how new it is") {
    FoundSnapshot& unreadable = snapshots.told[kOld][1];
    unreadable.owner.key = {};
    unreadable.owner.saved_at = {};
  }
  const RecoverReport report = recover().value();
  CHECK(report.archived == 2);
  const Record ana = record(kAna);
  CHECK(ana.state == SandboxState::kArchived);
  CHECK(ana.snapshot->objects[0].key == ObjectKey("second"));
  CHECK_THAT(ana.needs_attention,
             Catch::Contains("older snapshot, second") && Catch::Contains("'newest' is missing"));
  CHECK(record(kBob).needs_attention.empty());
  REQUIRE_FALSE(report.problems.empty());
  CHECK_THAT(report.problems.back(),
             Catch::Contains(sandbox_id_of(kAna).str()) && Catch::Contains("older snapshot"));
}

TEST_CASE_METHOD(World, "recover: of several lives the newest whole snapshot counts",
                 "[unit][lifecycle][recover]") {
  FoundSnapshot earlier = found(kAna, "earlier", 10);
  earlier.owner.incarnation = Incarnation("i0");
  FoundSnapshot newest = found(kAna, "newest", 20);
  SECTION("that of the later one") {
    snapshots.told[kOld] = {earlier, newest};
    const RecoverReport report = recover().value();
    CHECK(record(kAna).incarnation == Incarnation("i1"));
    CHECK(record(kAna).needs_attention.empty());
    REQUIRE(report.problems.size() == 1);
    CHECK_THAT(report.problems[0], Catch::Contains("2 lives"));
  }
  SECTION("that of the earlier one, where the later one's is damaged") {
    newest.problem = "'newest' is missing";
    snapshots.told[kOld] = {earlier, newest};
    CHECK(recover().value().archived == 1);
    CHECK(record(kAna).incarnation == Incarnation("i0"));
    CHECK(record(kAna).snapshot->objects[0].key == ObjectKey("earlier"));
    CHECK_THAT(record(kAna).needs_attention, Catch::Contains("of an earlier life"));
  }
}

TEST_CASE_METHOD(World, "recover: what of a destroyed sandbox is left comes back without its grave",
                 "[unit][lifecycle][recover]") {
  // The metadata that knew of the destroying are gone with the rest: nothing is lost by that.
  FoundSnapshot half_deleted = found(kBob, "only", 10);
  half_deleted.problem = "'only' is missing";
  snapshots.told[kOld] = {found(kAna, "left", 10), half_deleted};
  const RecoverReport report = recover().value();
  CHECK(report.archived == 1);
  CHECK(record(kAna).state == SandboxState::kArchived);
  REQUIRE(report.problems.size() == 1);
  CHECK_THAT(report.problems[0], Catch::Contains(sandbox_id_of(kBob).str()) &&
                                     Catch::Contains("no snapshot that is whole"));
  destroy(kAna);
  CHECK(recover().value().destroyed == 1);
}

TEST_CASE_METHOD(World, "recover: a life after the destroyed one is made again, and only that",
                 "[unit][lifecycle][recover]") {
  snapshots.told[kOld] = {found(kAna, "first", 10)};
  REQUIRE(recover());
  destroy(kAna);
  FoundSnapshot later = found(kAna, "later", 5);  // a clock that went back is no grave
  later.owner.incarnation = Incarnation("i2");
  snapshots.told[kOld] = {found(kAna, "first", 10), later};
  const RecoverReport report = recover().value();
  CHECK(report.archived == 1);
  CHECK(report.problems.empty());
  CHECK(record(kAna).incarnation == Incarnation("i2"));
}

TEST_CASE_METHOD(World, "recover: leaves alone what runs, and a record that it cannot read",
                 "[unit][lifecycle][recover]") {
  snapshots.told[kOld] = {found(kAna, "first", 10), found(kBob, "only", 10)};
  REQUIRE(recover());
  const CallContext call;
  const DocumentId bob{DocumentKind::kSandbox, sandbox_id_of(kBob).str()};
  const auto stored = scheduler.run(store->find(bob, call)).value();
  const Document broken{"{}", stored->document.index};
  scheduler.run(store->compare_and_swap(bob, stored->version, broken, Durability::kDurable, call))
      .value();
  const std::string before = to_json(record(kAna));
  const RecoverReport again = recover().value();
  CHECK(again.kept == 2);
  CHECK(again.archived == 0);
  CHECK(to_json(record(kAna)) == before);
  CHECK(scheduler.run(store->find(bob, call)).value()->document.body == "{}");
}

TEST_CASE_METHOD(World, "recover: what was destroyed stays destroyed",
                 "[unit][lifecycle][recover]") {
  snapshots.told[kOld] = {found(kAna, "first", 10)};
  REQUIRE(recover());
  destroy(kAna);
  const RecoverReport report = recover().value();
  CHECK(report.destroyed == 1);
  CHECK(report.archived == 0);
}

TEST_CASE_METHOD(World, "recover: refuses a store that belongs to another deployment",
                 "[unit][lifecycle][recover]") {
  snapshots.told[kOld] = {found(kAna, "first", 10)};
  REQUIRE(recover());
  const DeploymentId other("other");
  snapshots.told[other] = {found(kBob, "only", 10)};
  const auto unnamed = recover();
  REQUIRE_FALSE(unnamed);
  CHECK(unnamed.error().code() == ErrorCode::kInvalidArgument);
  CHECK(unnamed.error().message().find("old, other") != std::string::npos);
  const auto refused = recover(other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(manager->deployment() == kOld);
}

TEST_CASE_METHOD(World, "recover: without any snapshot it says so", "[unit][lifecycle][recover]") {
  const auto nothing = recover();
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code() == ErrorCode::kNotFound);
}

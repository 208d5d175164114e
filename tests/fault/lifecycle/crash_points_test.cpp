// The process dies at every place of every operation: before and after each swap, and before and
// after each effect. Then another one comes.
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "support/sim/sim_cluster.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

const SandboxId& sandbox() {
  static const SandboxId id = sandbox_id_of(key_of("ana"));
  return id;
}

/// One story: what is there before, and the operation in which the process dies.
struct Scenario {
  const char* name;
  void (*prepare)(SimCluster&, SimProcess&);
  Pending<Result<void>> (*act)(SimProcess&);
  bool destroys = false;
};

void no_sandbox(SimCluster&, SimProcess&) {}

void running(SimCluster& cluster, SimProcess& process) {
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  REQUIRE(process.node().write(acquired.instance, "precious", "file"));
  cluster.finish(process.release(sandbox())).value();
}

void stopped(SimCluster& cluster, SimProcess& process) {
  running(cluster, process);
  cluster.finish(process.stop(sandbox())).value();
}

void archived(SimCluster& cluster, SimProcess& process) {
  running(cluster, process);
  cluster.finish(process.archive(sandbox())).value();
}

/// Archived, woken, written to and stopped: the next archive replaces a snapshot.
void archived_before(SimCluster& cluster, SimProcess& process) {
  archived(cluster, process);
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  REQUIRE(process.node().write(acquired.instance, "second", "file"));
  cluster.finish(process.release(sandbox())).value();
  cluster.finish(process.stop(sandbox())).value();
}

/// Another process goes on until its upload is done, and stands still.
void stand_still_after_upload(SimCluster& cluster, SimProcess& other) {
  cluster.world.run_until([&] {
    const auto record = cluster.store.record(sandbox());
    return record->operation && record->operation->phase == Phase::kArchiveUploaded;
  });
  other.host().pause_until(cluster.world.now() + 10min);
}

void being_archived(SimCluster& cluster, SimProcess& process) {
  stopped(cluster, process);
  SimProcess& other = cluster.start();
  (void)other.archive(sandbox());
  stand_still_after_upload(cluster, other);
}

void being_relocated(SimCluster& cluster, SimProcess& process) {
  stopped(cluster, process);
  SimProcess& other = cluster.start();
  (void)other.relocate(sandbox(), "sim2");
  stand_still_after_upload(cluster, other);
}

/// At the second provider, from where it goes back.
void relocated(SimCluster& cluster, SimProcess& process) {
  stopped(cluster, process);
  cluster.finish(process.relocate(sandbox(), "sim2")).value();
}

Pending<Result<void>> acquire(SimProcess& process) {
  (void)process.acquire(key_of("ana"));
  return std::make_shared<std::optional<Result<void>>>();  // it dies, or the run gets quiet
}
Pending<Result<void>> stop(SimProcess& process) { return process.stop(sandbox()); }
Pending<Result<void>> archive(SimProcess& process) { return process.archive(sandbox()); }
Pending<Result<void>> destroy(SimProcess& process) { return process.destroy(sandbox()); }
Pending<Result<void>> relocate(SimProcess& process) { return process.relocate(sandbox(), "sim2"); }
Pending<Result<void>> relocate_back(SimProcess& process) {
  return process.relocate(sandbox(), "sim");
}

const Scenario kScenarios[] = {
    {"provision", no_sandbox, acquire},
    {"resume", stopped, acquire},
    {"restore", archived, acquire},
    {"stop", running, stop},
    {"archive", stopped, archive},
    {"archive while running", running, archive},
    {"archive again", archived_before, archive},
    {"restore in place of an archive", being_archived, acquire},
    {"relocate", stopped, relocate},
    {"relocate of what was archived before", archived_before, relocate},
    {"relocate back while running", relocated, relocate_back},
    {"restore in place of a relocate", being_relocated, acquire},
    {"destroy in place of a relocate", being_relocated, destroy, true},
    {"destroy while running", running, destroy, true},
    {"destroy in the archive", archived_before, destroy, true},
};

using Place = std::pair<std::string, int>;

/// The places that the operation passes when nobody dies.
std::vector<Place> places_of(const Scenario& scenario) {
  SimCluster cluster(7);
  cluster.has_second = true;
  SimProcess& process = cluster.start();
  scenario.prepare(cluster, process);
  cluster.world.record_points(true);
  (void)scenario.act(process);
  cluster.world.run_for(5s);
  std::map<std::string, int> seen;
  std::vector<Place> places;
  for (const std::string& name : cluster.world.points()) {
    const bool reading = name.starts_with("find") || name.starts_with("now");
    const int nth = ++seen[name];
    if (!reading) places.emplace_back(name, nth);
  }
  return places;
}

/// Plays the scenario until its process dies at the place.
void die_at(SimCluster& cluster, const Scenario& scenario, const Place& place) {
  SimProcess& victim = cluster.start();
  scenario.prepare(cluster, victim);
  cluster.world.crash_at(place.first, place.second);
  (void)scenario.act(victim);
  cluster.world.run_until([&] { return !victim.host().alive(); });
  REQUIRE_FALSE(victim.host().alive());
}

SimFiles expected_files(SimCluster& cluster) {
  const auto record = cluster.store.record(sandbox());
  const auto& committed = cluster.node("m1").committed;
  const auto found = committed.find({sandbox(), record ? record->incarnation : Incarnation()});
  return found == committed.end() ? SimFiles{} : found->second;
}

void check_woken(SimCluster& cluster, const Result<AcquiredInstance>& acquired) {
  REQUIRE(acquired.has_value());
  CHECK(cluster.node("m1").instances.contains(acquired->instance));
  CHECK(cluster.node("m1").instances_of(sandbox()) == 1);
  CHECK(cluster.files_of(sandbox()) == expected_files(cluster));
}

void check_clean(SimCluster& cluster) {
  cluster.check_always();
  for (const std::string& violation : cluster.world.violations()) FAIL_CHECK(violation);
}

template <class Check>
void at_every_place(const Check& check) {
  for (const Scenario& scenario : kScenarios) {
    const auto places = places_of(scenario);
    REQUIRE(places.size() >= 4);
    for (const Place& place : places) {
      INFO(scenario.name << ": dies at " << place.first << " #" << place.second);
      SimCluster cluster(7);
      cluster.has_second = true;
      die_at(cluster, scenario, place);
      check(cluster, scenario);
      check_clean(cluster);
    }
  }
}

}  // namespace

TEST_CASE(
    "Lifecycle: after a death at any place, the next acquire works at once and with all files",
    "[fault][lifecycle][pain-1][pain-12][pain-14][pain-15]") {
  at_every_place([](SimCluster& cluster, const Scenario&) {
    SimProcess& next = cluster.start();
    const Instant before = cluster.world.now();
    const auto acquired = cluster.finish(next.acquire(key_of("ana")));
    check_woken(cluster, acquired);
    CHECK(cluster.world.now() - before < 2s);
    cluster.finish(next.sweep()).value();
    CHECK(cluster.store.record(sandbox())->garbage.empty());
    CHECK(cluster.node("m1").volumes_of(sandbox()) == 1);
  });
}

TEST_CASE("Lifecycle: where nobody can see a death, the heartbeat's age tells it",
          "[fault][lifecycle][pain-14]") {
  at_every_place([](SimCluster& cluster, const Scenario&) {
    SimProcess& next = cluster.start();
    next.host().knows_deaths = false;
    const Instant before = cluster.world.now();
    check_woken(cluster, cluster.finish(next.acquire(key_of("ana"))));
    CHECK(cluster.world.now() - before < 35s);
  });
}

TEST_CASE("Lifecycle: after a death at any place, a sweep finishes or gives up what was begun",
          "[fault][lifecycle][pain-14][pain-30]") {
  at_every_place([](SimCluster& cluster, const Scenario& scenario) {
    const auto left = cluster.store.record(sandbox());
    const bool claimed =
        left && left->operation && left->operation->kind == OperationKind::kDestroy;
    SimProcess& next = cluster.start();
    const auto report = cluster.finish(next.sweep()).value();
    CHECK(report.errors.empty());
    auto record = cluster.store.record(sandbox());
    if (record && record->operation) {
      // Of the one that stands still: it is not dead, and goes on by itself.
      CHECK(cluster.world.find_host(record->operation->owner)->alive());
      cluster.world.run_for(20min);
      record = cluster.store.record(sandbox());
    }
    if (record) {
      CHECK_FALSE(record->operation);
      CHECK(record->garbage.empty());
    }
    if (scenario.destroys && claimed) CHECK_FALSE(record);
    if (!record) CHECK(cluster.node("m1").volumes.empty());
    const bool runs = record && record->state == SandboxState::kRunning;
    CHECK(cluster.node("m1").instances_of(sandbox()) == (runs ? 1 : 0));
    check_woken(cluster, cluster.finish(next.acquire(key_of("ana"))));
  });
}

TEST_CASE("Lifecycle: after a death at any place, stop and archive bring it to rest",
          "[fault][lifecycle][pain-15]") {
  at_every_place([](SimCluster& cluster, const Scenario&) {
    SimProcess& next = cluster.start();
    const auto record = cluster.store.record(sandbox());
    // An acquire that completed as its process died left a lease; kCancel ends it.
    const auto done = cluster.finish(next.archive(sandbox(), StopDrain::kCancel));
    const bool absent = !record || record->state == SandboxState::kAbsent;
    if (absent) {
      REQUIRE_FALSE(done);
      const ErrorCode code = done.error().code();
      CHECK((code == ErrorCode::kNotFound || code == ErrorCode::kFailedPrecondition));
    } else {
      REQUIRE(done);
      CHECK(cluster.store.record(sandbox())->state == SandboxState::kArchived);
      CHECK(cluster.node("m1").instances_of(sandbox()) == 0);
    }
    check_woken(cluster, cluster.finish(next.acquire(key_of("ana"))));
  });
}

TEST_CASE("Lifecycle: after a death at any place, destroy leaves a tombstone and nothing else",
          "[fault][lifecycle][pain-28]") {
  at_every_place([](SimCluster& cluster, const Scenario&) {
    SimProcess& next = cluster.start();
    const bool was_there = cluster.store.record(sandbox()).has_value();
    const auto done = cluster.finish(next.destroy(sandbox()));
    if (was_there) REQUIRE(done);
    if (done) CHECK(cluster.store.count(DocumentKind::kTombstone) == 1);
    CHECK_FALSE(cluster.store.record(sandbox()));
    CHECK(cluster.node("m1").volumes.empty());
    CHECK(cluster.node("m1").instances.empty());
    CHECK(cluster.objects.objects.empty());
    const auto again = cluster.finish(next.acquire(key_of("ana")));
    check_woken(cluster, again);
    CHECK(again->work == AcquireWork::kProvisioned);
    CHECK(cluster.files_of(sandbox()).empty());
  });
}

TEST_CASE("Lifecycle: where the store forgets what was not durable, the operation still completes",
          "[fault][lifecycle]") {
  for (const Scenario& scenario : kScenarios) {
    for (const Place& place : places_of(scenario)) {
      INFO(scenario.name << ": the store crashes at " << place.first << " #" << place.second);
      SimCluster cluster(7);
      cluster.has_second = true;
      cluster.world.on_power_loss = [&](const std::string&) { cluster.store.lose_power(); };
      SimProcess& process = cluster.start();
      scenario.prepare(cluster, process);
      cluster.world.forget_at(place.first, place.second);
      const auto done = scenario.act(process);
      cluster.world.run_for(2min);
      CHECK_FALSE((*done && !**done));
      const auto record = cluster.store.record(sandbox());
      CHECK((!record || !record->operation || record->operation->owner != process.host().self()));
      check_woken(cluster, cluster.finish(process.acquire(key_of("ana"))));
      check_clean(cluster);
    }
  }
}

// Moving a workspace to another provider: it arrives whole, or it is where it was.
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
  SimCluster cluster{7};
  SimProcess& process = start();
  SimNode& node = cluster.node("m1");

  SimProcess& start() {
    cluster.has_second = true;
    return cluster.start();
  }
  /// A workspace with a file in it, that nobody uses.
  InstanceRef make() {
    const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
    REQUIRE(node.write(acquired.instance, "precious", "file"));
    cluster.finish(process.release(sandbox())).value();
    return acquired.instance;
  }
  Record record() { return *cluster.store.record(sandbox()); }
  Result<void> relocate(const std::string& provider, StopDrain drain = StopDrain::kRefuse) {
    return cluster.finish(process.relocate(sandbox(), provider, drain));
  }
  void fail(const std::string& kind) {
    node.failing.emplace(kind, Error(ErrorCode::kProvider, "broken " + kind));
  }
  /// Runs until the relocate has come so far.
  void run_to(Phase phase) {
    REQUIRE(cluster.world.run_until([&] {
      const auto& operation = record().operation;
      return operation && operation->kind == OperationKind::kRelocate && operation->phase == phase;
    }));
  }
  void check_at(const std::string& provider) {
    cluster.world.run_for(1s);  // deletions that nobody waits for
    const Record now = record();
    CHECK(now.provider == provider);
    CHECK_FALSE(now.operation);
    CHECK(cluster.files_of(sandbox()) == SimFiles{{"precious", "file"}});
    REQUIRE(node.volumes.size() == 1);
    CHECK(node.volumes.begin()->second.provider == provider);
    CHECK(now.garbage.empty());
    CHECK(cluster.world.violations().empty());
  }
};

}  // namespace

TEST_CASE_METHOD(World, "relocate: a workspace runs at the other provider, with its files",
                 "[fault][lifecycle][relocate]") {
  const InstanceRef before = make();
  SECTION("that ran") {}
  SECTION("that was stopped") { cluster.finish(process.stop(sandbox())).value(); }
  SECTION("that was archived") { cluster.finish(process.archive(sandbox())).value(); }
  REQUIRE(relocate("sim2"));
  CHECK(record().state == SandboxState::kRunning);
  CHECK(record().epoch > before.epoch);
  CHECK(record().generation != before.volume.generation);
  check_at("sim2");
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(acquired.provider == "sim2");
  CHECK(acquired.work == AcquireWork::kNone);
  REQUIRE(relocate("sim2", StopDrain::kCancel));  // it is there
  CHECK(record().generation == acquired.instance.volume.generation);
  REQUIRE(relocate("sim", StopDrain::kCancel));
  check_at("sim");
}

TEST_CASE_METHOD(World, "relocate: what stopped and archived there wakes there",
                 "[fault][lifecycle][relocate]") {
  make();
  REQUIRE(relocate("sim2"));
  cluster.finish(process.stop(sandbox(), StopDrain::kCancel)).value();
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().provider == "sim2");
  cluster.finish(process.archive(sandbox(), StopDrain::kCancel)).value();
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().provider == "sim2");
  check_at("sim2");
}

TEST_CASE_METHOD(World, "relocate: every phase is told, with its reason and how long it took",
                 "[fault][lifecycle][relocate][events]") {
  make();
  cluster.finish(process.stop(sandbox())).value();
  const std::size_t before = process.events().size();
  REQUIRE(relocate("sim2"));
  std::vector<Phase> phases;
  for (std::size_t i = before; i < process.events().size(); ++i) {
    const LifecycleEvent& event = process.events()[i];
    CHECK(event.kind == OperationKind::kRelocate);
    CHECK(event.reason == Reason::kAsked);
    CHECK(event.error.empty());
    phases.push_back(event.phase);
  }
  CHECK(phases == std::vector<Phase>{Phase::kClaimed, Phase::kArchiveUploaded,
                                     Phase::kProviderDeleted, Phase::kVolumeDeleted,
                                     Phase::kVolumeCreated, Phase::kSnapshotRestored,
                                     Phase::kInstanceStarted});
  CHECK(process.events().back().completed);
  CHECK(process.events().back().state == SandboxState::kRunning);
  CHECK(process.events().back().duration > 0ms);
  const std::string text = cluster.finish(begin_on(process, metrics_of(process.manager()))).value();
  CHECK_THAT(text, Catch::Contains("cove_operations_total{operation=\"relocate\",reason=\"asked\","
                                   "outcome=\"completed\"} 1"));
}

TEST_CASE_METHOD(World, "relocate: one that fails before its upload leaves everything as it was",
                 "[fault][lifecycle][relocate]") {
  const InstanceRef before = make();
  fail("sim open_volume");
  CHECK_FALSE(relocate("sim2"));
  node.failing.clear();
  CHECK(record().state == SandboxState::kStopped);
  CHECK(record().failures == 1);
  CHECK(record().generation == before.volume.generation);
  cluster.finish(process.acquire(key_of("ana"))).value();
  cluster.finish(process.sweep()).value();
  check_at("sim");
}

TEST_CASE_METHOD(World, "relocate: one that fails past its upload is retried by the sweep",
                 "[fault][lifecycle][relocate]") {
  make();
  fail("sim2 start_instance");
  const auto failed = relocate("sim2");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::kProvider);
  REQUIRE(record().operation);
  CHECK_THAT(record().operation->error, Catch::Contains("broken"));
  CHECK(record().state == SandboxState::kArchived);
  for (int i = 0; i < 5; ++i) {
    cluster.world.run_for(2h);
    cluster.finish(process.sweep()).value();
  }
  CHECK_THAT(record().needs_attention, Catch::Contains("broken"));
  node.failing.clear();
  cluster.world.run_for(2h);
  CHECK(cluster.finish(process.sweep()).value().recovered == 1);
  CHECK(record().needs_attention.empty());
  CHECK(record().state == SandboxState::kRunning);
  cluster.finish(process.sweep()).value();
  check_at("sim2");
}

TEST_CASE_METHOD(World, "relocate: back, or elsewhere, from a provider that cannot start it",
                 "[fault][lifecycle][relocate]") {
  make();
  fail("sim2 start_instance");
  REQUIRE_FALSE(relocate("sim2"));
  CHECK_FALSE(cluster.finish(process.acquire(key_of("ana"))));
  REQUIRE(relocate("sim"));
  node.failing.clear();
  cluster.finish(process.sweep()).value();
  check_at("sim");
}

TEST_CASE_METHOD(World,
                 "relocate: a user who comes before the upload gets it at once, where it was",
                 "[fault][lifecycle][relocate]") {
  make();
  const bool same_process = GENERATE(true, false);
  SimProcess& other = same_process ? process : cluster.start();
  const auto relocated = process.relocate(sandbox(), "sim2");
  run_to(Phase::kClaimed);
  cluster.world.faults.draw(1, {{SimFaultKind::kSlow, 100'000}});
  cluster.world.run_for(5ms);
  cluster.world.faults.end();
  const Instant before = cluster.world.now();
  const auto acquired = cluster.finish(other.acquire(key_of("ana"))).value();
  CHECK(acquired.provider == "sim");
  CHECK(acquired.work == AcquireWork::kResumed);
  CHECK(cluster.world.now() - before < 60s);
  const auto told = cluster.finish(relocated);
  REQUIRE_FALSE(told);
  cluster.finish(process.sweep()).value();
  check_at("sim");
}

TEST_CASE_METHOD(World, "relocate: a user who comes while it stops the workspace keeps it",
                 "[fault][lifecycle][relocate]") {
  make();
  const auto relocated = process.relocate(sandbox(), "sim2");
  REQUIRE(cluster.world.run_until([&] {
    const auto& operation = record().operation;
    return operation && operation->kind == OperationKind::kStop;
  }));
  const Instant before = cluster.world.now();
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(acquired.provider == "sim");
  CHECK(cluster.world.now() - before < 1s);
  const auto told = cluster.finish(relocated);
  REQUIRE_FALSE(told);
  CHECK(told.error().code() == ErrorCode::kFailedPrecondition);
  cluster.finish(process.release(sandbox())).value();
  check_at("sim");
}

TEST_CASE_METHOD(World, "relocate: a user who comes after the upload gets it in the new place",
                 "[fault][lifecycle][relocate]") {
  make();
  const bool same_process = GENERATE(true, false);
  SimProcess& other = same_process ? process : cluster.start();
  const auto relocated = process.relocate(sandbox(), "sim2");
  run_to(Phase::kArchiveUploaded);
  cluster.world.faults.draw(1, {{SimFaultKind::kSlow, 100'000}});
  cluster.world.run_for(20ms);
  cluster.world.faults.end();
  const Instant before = cluster.world.now();
  const auto acquired = cluster.finish(other.acquire(key_of("ana"))).value();
  CHECK(acquired.provider == "sim2");
  CHECK(acquired.work == AcquireWork::kRestored);
  CHECK(cluster.world.now() - before < 1s);  // it waits for no deletion
  CHECK(cluster.finish(relocated));          // it is where it was to go
  cluster.world.run_for(2min);
  cluster.finish(process.sweep()).value();
  check_at("sim2");
}

TEST_CASE_METHOD(World, "relocate: whoever comes after its holder's death finishes it",
                 "[fault][lifecycle][relocate]") {
  make();
  SimProcess& other = cluster.start();
  static_cast<void>(process.relocate(sandbox(), "sim2"));
  const Phase phase =
      GENERATE(Phase::kClaimed, Phase::kArchiveUploaded, Phase::kProviderDeleted,
               Phase::kVolumeDeleted, Phase::kVolumeCreated, Phase::kSnapshotRestored);
  INFO(name_of(phase));
  run_to(phase);
  process.host().crash();
  SECTION("a user") {
    const auto acquired = cluster.finish(other.acquire(key_of("ana"))).value();
    CHECK(acquired.provider == (phase == Phase::kClaimed ? "sim" : "sim2"));
  }
  SECTION("the sweep") {
    CHECK(cluster.finish(other.sweep()).value().recovered == 1);
    CHECK(record().provider == "sim2");
    CHECK(record().state == SandboxState::kRunning);
  }
  SECTION("another relocate, to where it was") {
    CHECK(cluster.finish(other.relocate(sandbox(), "sim")));
  }
  cluster.world.run_for(2min);
  cluster.finish(other.sweep()).value();
  check_at(record().provider);
}

TEST_CASE_METHOD(World, "relocate: a destroy in the middle leaves nothing at either provider",
                 "[fault][lifecycle][relocate]") {
  make();
  const auto relocated = process.relocate(sandbox(), "sim2");
  const Phase phase = GENERATE(Phase::kClaimed, Phase::kArchiveUploaded, Phase::kVolumeCreated);
  run_to(phase);
  CHECK(cluster.finish(process.destroy(sandbox())));
  static_cast<void>(cluster.finish(relocated));
  CHECK_FALSE(cluster.store.record(sandbox()));
  CHECK(node.volumes.empty());
  CHECK(cluster.objects.objects.empty());
  CHECK(cluster.world.violations().empty());
}

TEST_CASE_METHOD(World, "relocate: what is in use is refused, or ended",
                 "[fault][lifecycle][relocate]") {
  make();
  SimProcess& other = cluster.start();
  cluster.finish(other.acquire(key_of("ana"))).value();
  const auto refused = relocate("sim2");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(record().state == SandboxState::kRunning);
  CHECK(record().provider == "sim");
  REQUIRE(relocate("sim2", StopDrain::kCancel));
  check_at("sim2");
}

TEST_CASE_METHOD(World, "relocate: a place that is full is said before anything is moved",
                 "[fault][lifecycle][relocate][quota]") {
  LifecycleSettings settings;
  settings.running.all = 1;
  SimCluster limited(7, settings);
  limited.has_second = true;
  SimProcess& host = limited.start();
  limited.finish(host.acquire(key_of("ana"))).value();
  limited.finish(host.stop(sandbox(), StopDrain::kCancel)).value();
  limited.finish(host.acquire(key_of("bob"))).value();
  const auto full = limited.finish(host.relocate(sandbox(), "sim2"));
  REQUIRE_FALSE(full);
  CHECK(full.error().code() == ErrorCode::kQuotaExceeded);
  CHECK(limited.store.record(sandbox())->state == SandboxState::kStopped);
  CHECK(limited.store.record(sandbox())->failures == 0);
  limited.finish(host.stop(sandbox_id_of(key_of("bob")), StopDrain::kCancel)).value();
  CHECK(limited.finish(host.relocate(sandbox(), "sim2")));
}

TEST_CASE_METHOD(World, "relocate: an unknown provider, or sandbox, is said",
                 "[fault][lifecycle][relocate]") {
  const auto missing = relocate("sim2");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::kNotFound);
  make();
  for (const char* name : {"", "elsewhere"}) {
    const auto unknown = relocate(name);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code() == ErrorCode::kInvalidArgument);
  }
  CHECK_THAT(relocate("elsewhere").error().message(), Catch::Contains("'sim', 'sim2'"));
  CHECK(record().state == SandboxState::kRunning);
}

TEST_CASE_METHOD(World, "A process without a provider leaves alone what is there, and says so",
                 "[fault][lifecycle][relocate]") {
  make();
  REQUIRE(relocate("sim2"));
  cluster.has_second = false;
  SimProcess& poorer = cluster.start();
  const auto refused = cluster.finish(poorer.acquire(key_of("ana")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
  CHECK_THAT(refused.error().message(), Catch::Contains("no provider 'sim2'"));
  cluster.world.run_for(2h);
  CHECK(cluster.finish(poorer.sweep()).value().skipped >= 1);
  CHECK(record().state == SandboxState::kRunning);
  check_at("sim2");
}

TEST_CASE_METHOD(World, "Orphans: those of every provider are found, and instances ended",
                 "[fault][lifecycle][relocate]") {
  make();
  REQUIRE(relocate("sim2"));
  const VolumeRef stray{process.manager().deployment(), sandbox(), Generation("stray")};
  node.volumes[stray].provider = "sim2";
  node.instances[InstanceRef{stray, Epoch(1)}];
  const OrphanReport found = cluster.finish(process.orphans()).value();
  CHECK(found.volumes == std::vector<VolumeRef>{stray});
  CHECK(found.instances == std::vector<InstanceRef>{InstanceRef{stray, Epoch(1)}});
  CHECK(found.provider_of(stray) == "sim2");
  cluster.finish(process.sweep()).value();
  CHECK(node.instances.size() == 1);
  CHECK(node.volumes.contains(stray));
  // One that is lost at the second provider is found by its own inventory.
  node.reboot();
  CHECK(cluster.finish(process.sweep()).value().lost == 1);
}

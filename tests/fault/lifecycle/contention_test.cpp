// Many at once, and those that come back late.
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

InstanceRef make_running(SimCluster& cluster, SimProcess& process) {
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  REQUIRE(process.node().write(acquired.instance, "precious", "file"));
  cluster.finish(process.release(sandbox())).value();
  return acquired.instance;
}

void run_until_phase(SimCluster& cluster, OperationKind kind, Phase phase) {
  REQUIRE(cluster.world.run_until([&] {
    const auto record = cluster.store.record(sandbox());
    return record && record->operation && record->operation->kind == kind &&
           record->operation->phase == phase;
  }));
}

void check_clean(SimCluster& cluster) {
  cluster.check_always();
  for (const std::string& violation : cluster.world.violations()) FAIL_CHECK(violation);
}

}  // namespace

TEST_CASE("acquire: 200 callers of one process get one instance by one operation",
          "[fault][lifecycle][pain-28]") {
  SimCluster cluster(3);
  SimProcess& process = cluster.start();
  std::vector<Pending<Result<AcquiredInstance>>> calls;
  for (int i = 0; i < 200; ++i) calls.push_back(process.acquire(key_of("ana")));
  std::set<InstanceRef> instances;
  for (const auto& call : calls) instances.insert(cluster.finish(call).value().instance);
  CHECK(instances.size() == 1);
  // Claimed, volume made, running: nothing else was written.
  CHECK(cluster.store.writes() == 4);
  CHECK(cluster.node("m1").volumes.size() == 1);
  check_clean(cluster);
}

TEST_CASE("acquire: 20 processes on one store get one instance", "[fault][lifecycle][pain-28]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimCluster cluster(seed);
    std::vector<SimProcess*> processes;
    for (int i = 0; i < 20; ++i) processes.push_back(&cluster.start());
    std::vector<Pending<Result<AcquiredInstance>>> calls;
    for (SimProcess* process : processes) calls.push_back(process->acquire(key_of("ana")));
    std::set<InstanceRef> instances;
    int provisioned = 0;
    for (const auto& call : calls) {
      const auto acquired = cluster.finish(call).value();
      instances.insert(acquired.instance);
      provisioned += acquired.work == AcquireWork::kProvisioned ? 1 : 0;
    }
    CHECK(instances.size() == 1);
    CHECK(provisioned == 1);
    CHECK(cluster.node("m1").volumes.size() == 1);
    CHECK(cluster.store.record(sandbox())->activity.size() == 20);
    check_clean(cluster);
  }
}

TEST_CASE("acquire: warm it writes once, and not at all while the lease is fresh",
          "[fault][lifecycle]") {
  SimCluster cluster(3);
  SimProcess& first = cluster.start();
  SimProcess& second = cluster.start();
  make_running(cluster, first);
  const auto before = cluster.store.writes();
  CHECK(cluster.finish(second.acquire(key_of("ana"))).value().work == AcquireWork::kNone);
  CHECK(cluster.store.writes() == before + 1);
  for (int i = 0; i < 50; ++i) cluster.finish(second.acquire(key_of("ana"))).value();
  CHECK(cluster.store.writes() == before + 1);
}

TEST_CASE("acquire: abandons another process's archive before its upload and waits for nobody",
          "[fault][lifecycle][pain-25]") {
  SimCluster cluster(3);
  SimProcess& keeper = cluster.start();
  make_running(cluster, keeper);
  cluster.finish(keeper.stop(sandbox())).value();
  SimProcess& user = cluster.start();
  const auto archived = keeper.archive(sandbox());
  cluster.world.run_until([&] { return !cluster.objects.objects.empty(); });
  keeper.host().pause_until(cluster.world.now() + 500ms);
  const Instant before = cluster.world.now();
  const auto acquired = cluster.finish(user.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kResumed);
  CHECK(cluster.world.now() - before < 1s);
  const auto late = cluster.finish(archived);
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == ErrorCode::kFailedPrecondition);
  cluster.finish(user.sweep()).value();
  CHECK(cluster.objects.objects.empty());
  CHECK(cluster.files_of(sandbox()).size() == 1);
  check_clean(cluster);
}

TEST_CASE("acquire: in the same process an archive before its upload gives way",
          "[fault][lifecycle][pain-25]") {
  SimCluster cluster(3);
  SimProcess& process = cluster.start();
  make_running(cluster, process);
  cluster.finish(process.stop(sandbox())).value();
  const auto archived = process.archive(sandbox());
  run_until_phase(cluster, OperationKind::kArchive, Phase::kClaimed);
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kResumed);
  CHECK(cluster.finish(archived).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(cluster.store.record(sandbox())->failures == 0);
  check_clean(cluster);
}

TEST_CASE("acquire: takes a stop back before it stopped anything, and the stop notices",
          "[fault][lifecycle][pain-25]") {
  SimCluster cluster(3);
  SimProcess& stopper = cluster.start();
  const InstanceRef instance = make_running(cluster, stopper);
  const auto stop = stopper.stop(sandbox());
  run_until_phase(cluster, OperationKind::kStop, Phase::kClaimed);
  stopper.host().pause_until(cluster.world.now() + 5s);
  SimProcess& user = cluster.start();
  const auto acquired = cluster.finish(user.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kNone);
  CHECK(acquired.instance == instance);
  const auto refused = cluster.finish(stop);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(cluster.node("m1").instances.contains(instance));
}

TEST_CASE("acquire: drives a stop that has begun to stop, then resumes", "[fault][lifecycle]") {
  SimCluster cluster(3);
  SimProcess& stopper = cluster.start();
  const InstanceRef instance = make_running(cluster, stopper);
  (void)stopper.stop(sandbox());
  run_until_phase(cluster, OperationKind::kStop, Phase::kDrained);
  stopper.host().pause_until(cluster.world.now() + 20s);
  SimProcess& user = cluster.start();
  const Instant before = cluster.world.now();
  const auto acquired = cluster.finish(user.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kResumed);
  CHECK(cluster.world.now() - before < 1s);
  cluster.world.run_for(1min);
  CHECK(cluster.node("m1").instances.contains(acquired.instance));
  CHECK(acquired.instance.epoch == next(instance.epoch));
  check_clean(cluster);
}

TEST_CASE("acquire: a restore that slept for minutes changes nothing when it goes on",
          "[fault][lifecycle][pain-19]") {
  SimCluster cluster(3);
  SimProcess& sleeper = cluster.start();
  make_running(cluster, sleeper);
  cluster.finish(sleeper.archive(sandbox())).value();
  const auto late = sleeper.acquire(key_of("ana"));
  run_until_phase(cluster, OperationKind::kRestore, Phase::kVolumeCreated);
  sleeper.host().pause_until(cluster.world.now() + 2min);
  SimProcess& user = cluster.start();
  const auto acquired = cluster.finish(user.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kRestored);
  REQUIRE(user.node().write(acquired.instance, "new", "file"));
  const auto joined = cluster.finish(late).value();
  CHECK(joined.instance == acquired.instance);
  CHECK(joined.work == AcquireWork::kNone);
  cluster.finish(user.sweep()).value();
  CHECK(cluster.files_of(sandbox()) == SimFiles{{"new", "file"}, {"precious", "file"}});
  CHECK(cluster.node("m1").volumes_of(sandbox()) == 1);
  check_clean(cluster);
}

TEST_CASE("acquire: heartbeats during a long step keep others from taking over",
          "[fault][lifecycle]") {
  SimCluster cluster(3);
  SimProcess& slow = cluster.start();
  make_running(cluster, slow);
  cluster.finish(slow.stop(sandbox())).value();
  // Opened by somebody: the start waits, and the holder says that it is there.
  auto& volume = cluster.node("m1").volumes.begin()->second;
  SimProcess& other = cluster.start();
  volume.opened_by = &other.host();
  const auto first = slow.acquire(key_of("ana"));
  run_until_phase(cluster, OperationKind::kResume, Phase::kClaimed);
  const OperationId id = cluster.store.record(sandbox())->operation->id;
  const auto second = other.acquire(key_of("ana"));
  cluster.world.run_for(25s);
  const auto record = cluster.store.record(sandbox());
  REQUIRE(record->operation);
  CHECK(record->operation->id == id);
  CHECK(cluster.world.store_time() - record->operation->heartbeat_at < 6s);
  volume.opened_by = nullptr;
  CHECK(cluster.finish(first).value().instance == cluster.finish(second).value().instance);
  check_clean(cluster);
}

TEST_CASE("destroy: goes before whatever is going on, here and elsewhere",
          "[fault][lifecycle][pain-28]") {
  for (const bool same_process : {true, false}) {
    SimCluster cluster(3);
    SimProcess& first = cluster.start();
    make_running(cluster, first);
    cluster.finish(first.archive(sandbox())).value();
    const auto acquired = first.acquire(key_of("ana"));
    run_until_phase(cluster, OperationKind::kRestore, Phase::kVolumeCreated);
    SimProcess& destroyer = same_process ? first : cluster.start();
    const Incarnation before = cluster.store.record(sandbox())->incarnation;
    cluster.finish(destroyer.destroy(sandbox())).value();
    // The acquire began before: it makes the sandbox anew.
    const auto anew = cluster.finish(acquired).value();
    CHECK(anew.work == AcquireWork::kProvisioned);
    CHECK(cluster.store.record(sandbox())->incarnation != before);
    CHECK(cluster.files_of(sandbox()).empty());
    CHECK(cluster.objects.objects.empty());
    check_clean(cluster);
  }
}

TEST_CASE("acquire: its deadline ends the waiting, and the work goes on for the next one",
          "[fault][lifecycle]") {
  SimCluster cluster(3);
  SimProcess& process = cluster.start();
  const CallContext short_call{cluster.world.now() + 1ms, {}};
  const auto late = cluster.finish(process.acquire(key_of("ana"), short_call));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == ErrorCode::kTimeout);
  cluster.world.run_for(1s);
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(cluster.node("m1").instances_of(sandbox()) == 1);
  CHECK(cluster.node("m1").volumes.size() == 1);
  CHECK(acquired.instance.epoch == Epoch(1));
}

TEST_CASE("acquire: without a deadline it says after five minutes what it waited for",
          "[fault][lifecycle]") {
  SimCluster cluster(3);
  SimProcess& holder = cluster.start();
  make_running(cluster, holder);
  cluster.finish(holder.stop(sandbox())).value();
  SimProcess& waiting = cluster.start();
  // A start that never ends, by a process that lives.
  cluster.node("m1").failing.emplace("start_instance",
                                     Error(ErrorCode::kFailedPrecondition, "the volume is open"));
  cluster.settings.owner_dead_after = 1h;
  SimProcess& patient = cluster.start();
  (void)patient.acquire(key_of("ana"));
  run_until_phase(cluster, OperationKind::kResume, Phase::kClaimed);
  const Instant before = cluster.world.now();
  const auto given_up = cluster.finish(waiting.acquire(key_of("ana")));
  REQUIRE_FALSE(given_up);
  CHECK(given_up.error().code() == ErrorCode::kUnavailable);
  CHECK(given_up.error().retry_after().has_value());
  CHECK(given_up.error().message().find("resume at claimed") != std::string::npos);
  CHECK(cluster.world.now() - before >= 5min);
  CHECK(cluster.world.now() - before < 6min);
}

TEST_CASE("acquire: a caller that leaves while its claim is on the way leaves nobody waiting",
          "[fault][lifecycle][pain-12]") {
  SimCluster cluster(5);
  SimProcess& process = cluster.start();
  SimProcess& other = cluster.start();
  // The insert arrives after five seconds; its caller waits for one.
  cluster.world.faults.play({{SimFaultKind::kSlow, 0, "insert", 2, 5000U << 1U}});
  const CallContext call{process.host().now() + 1s, {}};
  const auto left = cluster.finish(process.acquire(key_of("ana"), call));
  REQUIRE_FALSE(left.has_value());
  CHECK(left.error().code() == ErrorCode::kTimeout);
  const SandboxId id = sandbox_id_of(key_of("ana"));
  CHECK_FALSE(cluster.store.record(id).has_value());
  cluster.world.run_until([&] { return cluster.store.record(id).has_value(); });
  const Instant asked = cluster.world.now();
  REQUIRE(cluster.finish(other.acquire(key_of("ana"))).has_value());
  CHECK(cluster.world.now() - asked < 5s);  // no heartbeat had to grow old
  CHECK(cluster.world.faults.happened().size() == 1);
  CHECK(cluster.world.violations().empty());
}

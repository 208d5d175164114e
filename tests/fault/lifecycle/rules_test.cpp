// The rules of the design, one by one, where something is broken.
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

struct World {
  SimCluster cluster{5};
  SimProcess& process = cluster.start();
  SimNode& node = cluster.node("m1");

  InstanceRef wake() {
    const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
    REQUIRE(node.write(acquired.instance, "precious", "file"));
    return acquired.instance;
  }
  void rest() { cluster.finish(process.release(sandbox())).value(); }
  Record record() { return *cluster.store.record(sandbox()); }
  ErrorCode acquire_error() {
    const auto acquired = cluster.finish(process.acquire(key_of("ana")));
    REQUIRE_FALSE(acquired);
    return acquired.error().code();
  }
};

}  // namespace

TEST_CASE_METHOD(World, "stop: the sweeper syncs the workspace before it ends anything",
                 "[fault][lifecycle][pain-2]") {
  wake();
  rest();
  cluster.world.run_for(2h);
  cluster.world.record_points(true);
  const auto report = cluster.finish(process.sweep()).value();
  CHECK(report.stopped == 1);
  const auto& points = cluster.world.points();
  const auto synced = std::find(points.begin(), points.end(), "guest sync:after");
  const auto drained = std::find(points.begin(), points.end(), "swap stop drained:after");
  const auto ended = std::find(points.begin(), points.end(), "stop_instance:after");
  REQUIRE(ended != points.end());
  CHECK(synced < drained);
  CHECK(drained < ended);
  CHECK(node.volumes.size() == 1);
}

TEST_CASE_METHOD(World, "sweep: idle sandboxes are stopped after an hour and archived after a week",
                 "[fault][lifecycle]") {
  wake();
  rest();
  cluster.world.run_for(59min);
  CHECK(cluster.finish(process.sweep()).value().stopped == 0);
  cluster.world.run_for(2min);
  CHECK(cluster.finish(process.sweep()).value().stopped == 1);
  cluster.world.run_for(24h * 6);
  CHECK(cluster.finish(process.sweep()).value().archived == 0);
  cluster.world.run_for(24h);
  CHECK(cluster.finish(process.sweep()).value().archived == 1);
  CHECK(record().state == SandboxState::kArchived);
  CHECK(node.volumes.empty());
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kRestored);
  CHECK(cluster.files_of(sandbox()) == SimFiles{{"precious", "file"}});
}

TEST_CASE_METHOD(World, "touch: keeps the lease alive for calls, and for five minutes after",
                 "[fault][lifecycle][pain-20][pain-22]") {
  wake();
  for (int i = 0; i < 90; ++i) {
    process.manager().touch(sandbox());
    cluster.world.run_for(1min);
  }
  const auto now = cluster.world.store_time();
  REQUIRE(record().activity.size() == 1);
  CHECK(record().activity[0].expires_at > now);
  CHECK(now - record().last_active_at < 2min);
  SimProcess& sweeper = cluster.start();
  CHECK(cluster.finish(sweeper.sweep()).value().stopped == 0);
  const auto before = cluster.store.writes();
  cluster.world.run_for(30min);
  CHECK(cluster.store.writes() - before < 20);
  CHECK(record().activity[0].expires_at < cluster.world.store_time());
}

TEST_CASE_METHOD(World, "stop: is refused while another process uses it, unless it is to be ended",
                 "[fault][lifecycle][pain-25]") {
  wake();
  SimProcess& other = cluster.start();
  const auto refused = cluster.finish(other.stop(sandbox()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kFailedPrecondition);
  CHECK(cluster.finish(other.archive(sandbox())).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(record().state == SandboxState::kRunning);
  CHECK(record().failures == 0);
  CHECK(cluster.finish(other.stop(sandbox(), StopDrain::kCancel)));
  CHECK(record().state == SandboxState::kStopped);
}

TEST_CASE_METHOD(World, "stop: a running command forbids it, a kept one also the sweeper's",
                 "[fault][lifecycle][pain-20]") {
  const InstanceRef instance = wake();
  rest();
  node.instances[instance].running_commands = 1;
  CHECK(cluster.finish(process.stop(sandbox())).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(record().state == SandboxState::kRunning);
  CHECK_FALSE(record().operation);
  node.instances[instance] = SimInstance{1, 1};
  cluster.world.run_for(2h);
  const auto report = cluster.finish(process.sweep()).value();
  CHECK(report.stopped == 0);
  CHECK(report.errors.empty());
  CHECK(record().failures == 0);
  CHECK(cluster.world.store_time() - record().last_active_at < 1min);
  CHECK(node.instances.contains(instance));
  CHECK(cluster.finish(process.stop(sandbox(), StopDrain::kCancel)));
}

TEST_CASE_METHOD(World,
                 "Lifecycle: a volume that was moved away stops everything and loses nothing",
                 "[fault][lifecycle][pain-13]") {
  const InstanceRef instance = wake();
  rest();
  SECTION("while it runs") {
    node.reboot();
    node.volumes.begin()->second.present = false;
    const auto told = cluster.finish(process.report_unreachable(instance));
    REQUIRE_FALSE(told);
    CHECK(told.error().code() == ErrorCode::kIntegrity);
    CHECK(record().state == SandboxState::kRunning);
  }
  SECTION("while it is stopped") {
    cluster.finish(process.stop(sandbox())).value();
    node.volumes.begin()->second.present = false;
    CHECK(acquire_error() == ErrorCode::kIntegrity);
    CHECK(cluster.finish(process.archive(sandbox())).error().code() == ErrorCode::kIntegrity);
    CHECK(record().state == SandboxState::kStopped);
  }
  CHECK_FALSE(record().needs_attention.empty());
  CHECK(node.volumes.size() == 1);
  CHECK(cluster.objects.objects.empty());
  node.volumes.begin()->second.present = true;
  if (record().state == SandboxState::kRunning) {
    CHECK(cluster.finish(process.report_unreachable(instance)).value());
  }
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
  CHECK(record().needs_attention.empty());
  CHECK(cluster.files_of(sandbox()).size() == 1);
}

TEST_CASE_METHOD(World, "acquire: what runs on its volume again needs nobody's attention",
                 "[fault][lifecycle]") {
  const InstanceRef instance = wake();
  rest();
  SimVolume& volume = node.volumes.begin()->second;
  volume.present = false;
  node.failing.emplace("connect", Error(ErrorCode::kIntegrity, "the volume is missing"));
  CHECK(cluster.finish(process.stop(sandbox())).error().code() == ErrorCode::kIntegrity);
  REQUIRE(record().state == SandboxState::kRunning);
  REQUIRE_FALSE(record().operation);
  REQUIRE_FALSE(record().needs_attention.empty());
  // An acquire of the record alone is no success while the volume is away.
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().instance == instance);
  CHECK_FALSE(record().needs_attention.empty());
  volume.present = true;
  node.failing.clear();
  // A provider that cannot be asked leaves it to the next acquire.
  node.failing.emplace("inspect", Error(ErrorCode::kUnavailable, "no answer"));
  CHECK(cluster.finish(process.acquire(key_of("ana"))));
  CHECK_FALSE(record().needs_attention.empty());
  node.failing.clear();
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(acquired.work == AcquireWork::kNone);
  CHECK(acquired.instance == instance);
  CHECK(record().needs_attention.empty());
}

TEST_CASE_METHOD(World, "archive: an upload that is not what it must be leaves the volume",
                 "[fault][lifecycle][pain-18]") {
  wake();
  rest();
  const auto archived = process.archive(sandbox());
  cluster.world.run_until([&] { return !cluster.objects.objects.empty(); });
  cluster.objects.objects.begin()->second.broken = true;
  const auto failed = cluster.finish(archived);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::kIntegrity);
  CHECK(record().state == SandboxState::kStopped);
  CHECK(record().failures == 1);
  cluster.world.run_for(1min);
  CHECK(cluster.objects.objects.empty());
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
}

TEST_CASE_METHOD(World, "acquire: a damaged snapshot is not half restored, and can be tried again",
                 "[fault][lifecycle][pain-5][pain-9]") {
  wake();
  rest();
  cluster.finish(process.archive(sandbox())).value();
  cluster.objects.objects.rbegin()->second.broken = true;
  CHECK(acquire_error() == ErrorCode::kIntegrity);
  CHECK(record().state == SandboxState::kArchived);
  CHECK_FALSE(record().operation);
  CHECK(record().needs_attention.find("checksum") != std::string::npos);
  CHECK(record().garbage.empty());
  CHECK(node.volumes.empty());
  cluster.objects.objects.rbegin()->second.broken = false;
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kRestored);
  CHECK(cluster.files_of(sandbox()).size() == 1);
}

TEST_CASE_METHOD(World, "acquire: a provision that fails leaves no volume, and the next one works",
                 "[fault][lifecycle][pain-34]") {
  node.failing.emplace("start_instance", Error(ErrorCode::kProvider, "no bubblewrap"));
  for (int i = 0; i < 20; ++i) CHECK(acquire_error() == ErrorCode::kProvider);
  CHECK(node.volumes.empty());
  CHECK(record().garbage.empty());
  CHECK(record().needs_attention.find("no bubblewrap") != std::string::npos);
  node.failing.clear();
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kProvisioned);
  CHECK(record().failures == 0);
}

TEST_CASE_METHOD(World, "sweep: a provision that nobody wants any more is undone",
                 "[fault][lifecycle]") {
  node.failing.emplace("start_instance", Error(ErrorCode::kProvider, "no bubblewrap"));
  CHECK(acquire_error() == ErrorCode::kProvider);
  CHECK(cluster.finish(process.sweep()).value().recovered == 0);  // it rests after a failure
  cluster.world.run_for(1min);
  CHECK(cluster.finish(process.sweep()).value().recovered == 1);
  CHECK_FALSE(cluster.store.record(sandbox()));
  CHECK(node.volumes.empty());
}

TEST_CASE_METHOD(World, "sweep: what fails is tried more and more seldom, and a person is told",
                 "[fault][lifecycle]") {
  wake();
  rest();
  cluster.finish(process.stop(sandbox())).value();
  node.failing.emplace("open_volume", Error(ErrorCode::kQuotaExceeded, "the disk is full"));
  cluster.world.run_for(24h * 8);
  std::size_t tries = 0;
  for (int minute = 0; minute < 60; ++minute) {
    tries += cluster.finish(process.sweep()).value().errors.size();
    cluster.world.run_for(1min);
  }
  CHECK(tries >= 5);
  CHECK(tries <= 9);
  CHECK(record().needs_attention.find("the disk is full") != std::string::npos);
  CHECK(record().state == SandboxState::kStopped);
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
}

TEST_CASE_METHOD(World, "report_unreachable: only the provider's word about this epoch counts",
                 "[fault][lifecycle][pain-16]") {
  const InstanceRef instance = wake();
  CHECK_FALSE(cluster.finish(process.report_unreachable(instance)).value());
  node.failing.emplace("inspect", Error(ErrorCode::kUnavailable, "no answer"));
  CHECK_FALSE(cluster.finish(process.report_unreachable(instance)));
  node.failing.clear();
  node.reboot();
  const InstanceRef older{instance.volume, Epoch(number_of(instance.epoch) - 1)};
  CHECK_FALSE(cluster.finish(process.report_unreachable(older)).value());
  CHECK(record().state == SandboxState::kRunning);
  CHECK(cluster.finish(process.report_unreachable(instance)).value());
  CHECK(record().state == SandboxState::kStopped);
  CHECK_FALSE(cluster.finish(process.report_unreachable(instance)).value());
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
}

TEST_CASE_METHOD(World, "acquire: another node is named, and its record passed by",
                 "[fault][lifecycle][pain-3]") {
  wake();
  rest();
  SimProcess& elsewhere = cluster.start("m2");
  const auto refused = cluster.finish(elsewhere.acquire(key_of("ana")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
  CHECK(refused.error().message().find("'m1'") != std::string::npos);
  CHECK(cluster.finish(elsewhere.stop(sandbox())).error().code() == ErrorCode::kUnavailable);
  cluster.world.run_for(2h);
  CHECK(cluster.finish(elsewhere.sweep()).value().skipped == 1);
  CHECK(record().state == SandboxState::kRunning);
  cluster.finish(process.archive(sandbox())).value();
  CHECK(cluster.finish(elsewhere.acquire(key_of("ana"))).value().work == AcquireWork::kRestored);
  CHECK(record().node == NodeId("m2"));
  CHECK(cluster.node("m2").volumes.size() == 1);
}

TEST_CASE_METHOD(World, "sweep: ends an instance that nothing names and keeps such a volume",
                 "[fault][lifecycle][pain-30][pain-31]") {
  const InstanceRef instance = wake();
  const VolumeRef stray{instance.volume.deployment, SandboxId("app-stray"), Generation("g")};
  node.volumes[stray];
  node.instances[InstanceRef{stray, Epoch(1)}];
  const auto orphans = cluster.finish(process.orphans()).value();
  CHECK(orphans.volumes == std::vector<VolumeRef>{stray});
  CHECK(orphans.instances == std::vector<InstanceRef>{InstanceRef{stray, Epoch(1)}});
  cluster.finish(process.sweep()).value();
  CHECK(node.instances.size() == 1);
  CHECK(node.instances.contains(instance));
  CHECK(node.volumes.contains(stray));
}

TEST_CASE_METHOD(World,
                 "sweep: after a reboot what said running is stopped, where the node says so",
                 "[fault][lifecycle][pain-16]") {
  wake();
  SimProcess& elsewhere = cluster.start("m2");
  node.reboot();
  CHECK(cluster.finish(elsewhere.sweep()).value().lost == 0);
  CHECK(record().state == SandboxState::kRunning);
  node.failing.emplace("inspect", Error(ErrorCode::kUnavailable, "no answer"));
  CHECK(cluster.finish(process.sweep()).value().lost == 0);
  CHECK(record().state == SandboxState::kRunning);
  node.failing.clear();
  CHECK(cluster.finish(process.sweep()).value().lost == 1);
  CHECK(record().state == SandboxState::kStopped);
  CHECK(cluster.finish(process.acquire(key_of("ana"))).value().work == AcquireWork::kResumed);
  CHECK(cluster.finish(process.sweep()).value().lost == 0);
  CHECK(cluster.files_of(sandbox()).size() == 1);
}

TEST_CASE_METHOD(World, "sweep: a tombstone's volumes and objects are swept once more at its end",
                 "[fault][lifecycle][pain-28]") {
  const InstanceRef instance = wake();
  const Incarnation incarnation = record().incarnation;
  cluster.finish(process.destroy(sandbox())).value();
  CHECK(cluster.finish(process.destroy(sandbox())));
  CHECK(cluster.finish(process.stop(sandbox())).error().code() == ErrorCode::kNotFound);
  CHECK(cluster.finish(process.destroy(SandboxId("app-never"))).error().code() ==
        ErrorCode::kNotFound);
  // A late hand makes some of it again.
  node.volumes[instance.volume];
  cluster.objects.objects["cove/v1/" + instance.volume.deployment.str() + "/" + sandbox().str() +
                          "/" + incarnation.str() + "/late/0"];
  cluster.world.run_for(24h * 29);
  cluster.finish(process.sweep()).value();
  CHECK(node.volumes.size() == 1);
  cluster.world.run_for(24h * 2);
  CHECK(cluster.finish(process.sweep()).value().deleted == 1);
  CHECK(node.volumes.empty());
  CHECK(cluster.objects.objects.empty());
  CHECK(cluster.store.count(DocumentKind::kTombstone) == 0);
}

TEST_CASE_METHOD(World, "close: gives the leases back and ends no sandbox", "[fault][lifecycle]") {
  const InstanceRef instance = wake();
  cluster.finish(process.close());
  CHECK(record().activity.empty());
  CHECK(record().state == SandboxState::kRunning);
  CHECK(node.instances.contains(instance));
  CHECK(acquire_error() == ErrorCode::kCancelled);
}

TEST_CASE_METHOD(World, "acquire: another key, or a bad one, is refused", "[fault][lifecycle]") {
  wake();
  const auto adopt = [](LifecycleManager& manager, WorkspaceKey key,
                        SandboxId id) -> Task<Result<AcquiredInstance>> {
    const CallContext call;
    co_return co_await manager.acquire(key, id, call);
  };
  const auto code_of = [&](const WorkspaceKey& key, const SandboxId& id) {
    auto pending = std::make_shared<std::optional<ErrorCode>>();
    const auto keep = [](Task<Result<AcquiredInstance>> task,
                         Pending<ErrorCode> out) -> Task<void> {
      const auto acquired = co_await task;
      out->emplace(acquired ? ErrorCode{} : acquired.error().code());
    };
    base::spawn(process.host(), keep(adopt(process.manager(), key, id), pending));
    return cluster.finish(pending);
  };
  CHECK(code_of(key_of("bob"), sandbox()) == ErrorCode::kConflict);
  CHECK(code_of(WorkspaceKey{"1app", "x", "y"}, SandboxId()) == ErrorCode::kInvalidArgument);
  CHECK(code_of(key_of("bob"), SandboxId("../x")) == ErrorCode::kInvalidArgument);
  CHECK(code_of(key_of("bob"), SandboxId("1234abcd1234abcd")) == ErrorCode{});
  CHECK(cluster.store.record(SandboxId("1234abcd1234abcd"))->key == key_of("bob"));
}

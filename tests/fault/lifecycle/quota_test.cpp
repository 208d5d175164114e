// Quotas of running sandboxes: never more than allowed, and no place is lost.
#include <catch2/catch.hpp>

#include "support/sim/sim_cluster.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

LifecycleSettings limited(RunningQuotas running) {
  LifecycleSettings settings;
  settings.running = running;
  return settings;
}

WorkspaceKey key(const std::string& source, const std::string& user) {
  return {"app", source, user};
}

std::size_t running(SimCluster& cluster) {
  const auto records = cluster.store.records();
  return static_cast<std::size_t>(
      std::count_if(records.begin(), records.end(),
                    [](const Record& record) { return record.state == SandboxState::kRunning; }));
}

ErrorCode refusal(SimCluster& cluster, SimProcess& process, const WorkspaceKey& wanted) {
  const auto acquired = cluster.finish(process.acquire(wanted));
  return acquired ? ErrorCode{} : acquired.error().code();
}

void rest(SimCluster& cluster, SimProcess& process, const WorkspaceKey& used) {
  cluster.finish(process.stop(sandbox_id_of(used), StopDrain::kCancel)).value();
}

}  // namespace

TEST_CASE("Quota: one over it is refused, and the error says what is in use",
          "[fault][lifecycle][quota][pain-82]") {
  SimCluster cluster(4, limited({.per_user = 2}));
  SimProcess& process = cluster.start();
  cluster.finish(process.acquire(key("one", "ana"))).value();
  cluster.finish(process.acquire(key("two", "ana"))).value();
  const auto refused = cluster.finish(process.acquire(key("three", "ana")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kQuotaExceeded);
  const std::string text = refused.error().describe();
  CHECK(text.find("2 of 2") != std::string::npos);
  CHECK(text.find("user 'ana'") != std::string::npos);
  CHECK(text.find(sandbox_id_of(key("one", "ana")).str()) != std::string::npos);
  CHECK(cluster.node("m1").volumes.size() == 2);
  CHECK(refusal(cluster, process, key("three", "bob")) == ErrorCode{});
  CHECK(refusal(cluster, process, key("one", "ana")) == ErrorCode{});  // it runs already
}

TEST_CASE("Quota: each of the three is counted by itself", "[fault][lifecycle][quota]") {
  SimCluster cluster(4, limited({.all = 3, .per_source = 2, .per_user = 2}));
  SimProcess& process = cluster.start();
  cluster.finish(process.acquire(key("one", "ana"))).value();
  cluster.finish(process.acquire(key("one", "bob"))).value();
  CHECK(refusal(cluster, process, key("one", "cem")) == ErrorCode::kQuotaExceeded);
  cluster.finish(process.acquire(key("two", "ana"))).value();
  CHECK(refusal(cluster, process, key("three", "ana")) == ErrorCode::kQuotaExceeded);
  CHECK(refusal(cluster, process, key("three", "dan")) == ErrorCode::kQuotaExceeded);
  rest(cluster, process, key("one", "ana"));
  CHECK(refusal(cluster, process, key("three", "dan")) == ErrorCode{});
}

TEST_CASE("Quota: a stop, an archive and a destroy give the place back at once",
          "[fault][lifecycle][quota]") {
  SimCluster cluster(4, limited({.all = 1}));
  SimProcess& process = cluster.start();
  const WorkspaceKey ana = key("one", "ana");
  const SandboxId sandbox = sandbox_id_of(ana);
  for (int round = 0; round < 3; ++round) {
    cluster.finish(process.acquire(ana)).value();
    CHECK(refusal(cluster, process, key("one", "bob")) == ErrorCode::kQuotaExceeded);
    if (round == 0) rest(cluster, process, ana);
    if (round == 1) cluster.finish(process.archive(sandbox, StopDrain::kCancel)).value();
    if (round == 2) cluster.finish(process.destroy(sandbox)).value();
    CHECK(refusal(cluster, process, key("two", "cem")) == ErrorCode{});
    rest(cluster, process, key("two", "cem"));
  }
}

TEST_CASE("Quota: many at once from many processes never get more than there is",
          "[fault][lifecycle][quota]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimCluster cluster(seed, limited({.all = 3}));
    std::vector<SimProcess*> processes;
    for (int i = 0; i < 4; ++i) processes.push_back(&cluster.start());
    std::vector<Pending<Result<AcquiredInstance>>> asked;
    for (int i = 0; i < 12; ++i) {
      asked.push_back(
          processes[static_cast<std::size_t>(i % 4)]->acquire(key("one", "u" + std::to_string(i))));
    }
    std::size_t most = 0;
    cluster.world.run_until([&] {
      most = std::max(most, cluster.node("m1").instances.size());
      return std::all_of(asked.begin(), asked.end(),
                         [](const auto& one) { return one->has_value(); });
    });
    INFO("seed " << seed);
    CHECK(most <= 3);
    CHECK(running(cluster) == 3);
    for (const auto& one : asked) {
      const auto& result = **one;
      CHECK((result || result.error().code() == ErrorCode::kQuotaExceeded));
    }
  }
}

TEST_CASE("Quota: the place of a host that died in the middle of a start is found again",
          "[fault][lifecycle][quota]") {
  SimCluster cluster(4, limited({.all = 1}));
  SimProcess& dying = cluster.start();
  cluster.world.crash_at("start_instance:before");
  const auto lost = dying.acquire(key("one", "ana"));
  CHECK_FALSE(cluster.finish_or_die(lost, dying));
  SimProcess& living = cluster.start();
  CHECK(refusal(cluster, living, key("one", "bob")) == ErrorCode::kQuotaExceeded);
  cluster.world.run_for(1min);
  cluster.finish(living.sweep()).value();  // undoes the provision
  cluster.world.run_for(2s);
  CHECK(refusal(cluster, living, key("one", "bob")) == ErrorCode{});
}

TEST_CASE("Quota: what a reboot ended gives its place back when it is asked for",
          "[fault][lifecycle][quota]") {
  SimCluster cluster(4, limited({.all = 1}));
  SimProcess& process = cluster.start();
  const auto acquired = cluster.finish(process.acquire(key("one", "ana"))).value();
  cluster.node("m1").reboot();
  CHECK(cluster.finish(process.report_unreachable(acquired.instance)).value());
  CHECK(refusal(cluster, process, key("one", "bob")) == ErrorCode{});
}

TEST_CASE("Quota: what ran before there was one counts too", "[fault][lifecycle][quota]") {
  SimCluster cluster(4);
  SimProcess& unlimited = cluster.start();
  cluster.finish(unlimited.acquire(key("one", "ana"))).value();
  cluster.settings.running = {.all = 1};
  SimProcess& limiting = cluster.start();
  CHECK(refusal(cluster, limiting, key("one", "bob")) == ErrorCode::kQuotaExceeded);
  cluster.finish(limiting.stop(sandbox_id_of(key("one", "ana")), StopDrain::kCancel)).value();
  CHECK(refusal(cluster, limiting, key("one", "bob")) == ErrorCode{});
}

TEST_CASE("Quota: a refused start of an archived workspace leaves it archived, and is no failure",
          "[fault][lifecycle][quota]") {
  SimCluster cluster(4, limited({.all = 1}));
  SimProcess& process = cluster.start();
  const WorkspaceKey ana = key("one", "ana");
  const auto acquired = cluster.finish(process.acquire(ana)).value();
  REQUIRE(cluster.node("m1").write(acquired.instance, "precious", "file"));
  cluster.finish(process.archive(sandbox_id_of(ana), StopDrain::kCancel)).value();
  cluster.finish(process.acquire(key("one", "bob"))).value();
  CHECK(refusal(cluster, process, ana) == ErrorCode::kQuotaExceeded);
  const Record record = *cluster.store.record(sandbox_id_of(ana));
  CHECK(record.state == SandboxState::kArchived);
  CHECK_FALSE(record.operation);
  CHECK(record.failures == 0);
  rest(cluster, process, key("one", "bob"));
  CHECK(cluster.finish(process.acquire(ana)).value().work == AcquireWork::kRestored);
  CHECK(cluster.files_of(sandbox_id_of(ana)).size() == 1);
}

TEST_CASE("Quota: crashes and lost answers neither overfill it nor lose a place",
          "[fault][lifecycle][quota]") {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SimCluster cluster(seed, limited({.all = 2}));
    SimProcess& dying = cluster.start();
    SimProcess& living = cluster.start();
    cluster.world.faults.draw(seed, {{SimFaultKind::kLostRequest, 2000},
                                     {SimFaultKind::kLostReply, 2000},
                                     {SimFaultKind::kSlow, 500}});
    dying.host().crash_after(20 + cluster.world.random(200));
    std::vector<Pending<Result<AcquiredInstance>>> asked;
    for (int i = 0; i < 8; ++i) {
      SimProcess& process = i % 2 == 0 ? dying : living;
      asked.push_back(process.acquire(key("one", "u" + std::to_string(i))));
    }
    std::size_t most = 0;
    const Instant end = cluster.world.now() + 3min;
    cluster.world.run_until([&] {
      most = std::max(most, running(cluster));
      return cluster.world.now() > end;
    });
    INFO("seed " << seed);
    CHECK(most <= 2);
    cluster.world.faults = {};
    // Everything that is left comes to rest; then there is room for two again.
    for (int round = 0; round < 4; ++round) {
      cluster.world.run_for(3h);
      cluster.finish(living.sweep()).value();
    }
    CHECK(running(cluster) == 0);
    CHECK(refusal(cluster, living, key("two", "ana")) == ErrorCode{});
    CHECK(refusal(cluster, living, key("two", "bob")) == ErrorCode{});
    CHECK(refusal(cluster, living, key("two", "cem")) == ErrorCode::kQuotaExceeded);
  }
}

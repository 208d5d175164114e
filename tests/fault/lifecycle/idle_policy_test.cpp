// What the sweep does, for whom, and how it tells.
#include <catch2/catch.hpp>

#include "support/fixtures/sim_calls.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

WorkspaceKey key(const std::string& source, const std::string& user = "ana") {
  return {"app", source, user};
}

struct World {
  SimCluster cluster{5};
  SimProcess& process = cluster.start();

  void wake(const WorkspaceKey& wanted) {
    cluster.finish(process.acquire(wanted)).value();
    cluster.finish(process.release(sandbox_id_of(wanted))).value();
  }
  void set(const std::string& source, const IdlePolicy& policy) {
    cluster.finish(begin_on(process, set_policy(process.manager(), "app/" + source, policy)))
        .value();
  }
  SweepReport sweep(SweepOptions options = {}) {
    return cluster.finish(begin_on(process, sweep_with(process.manager(), std::move(options))))
        .value();
  }
  SandboxState state(const WorkspaceKey& wanted) {
    return cluster.store.record(sandbox_id_of(wanted))->state;
  }
};

}  // namespace

TEST_CASE_METHOD(World, "Idle policy: a source's thresholds count instead of the settings'",
                 "[fault][lifecycle][idle][pain-24]") {
  wake(key("quick"));
  wake(key("slow"));
  wake(key("usual"));
  set("quick", {.stop_after = 5min, .archive_after = 1h});
  set("slow", {.stop_after = 24h});
  cluster.world.run_for(10min);
  CHECK(sweep().stopped == 1);
  CHECK(state(key("quick")) == SandboxState::kStopped);
  cluster.world.run_for(2h);
  const SweepReport second = sweep();
  CHECK(second.stopped == 1);
  CHECK(second.archived == 1);
  CHECK(state(key("quick")) == SandboxState::kArchived);
  CHECK(state(key("usual")) == SandboxState::kStopped);
  CHECK(state(key("slow")) == SandboxState::kRunning);
  cluster.world.run_for(24h);
  CHECK(sweep().stopped == 1);
  CHECK(state(key("slow")) == SandboxState::kStopped);
}

TEST_CASE_METHOD(World, "Idle policy: one source is never archived, one at once",
                 "[fault][lifecycle][idle][pain-24]") {
  wake(key("kept"));
  wake(key("thrifty"));
  set("kept", {.archive = ArchiveRule::kNever});
  set("thrifty", {.archive = ArchiveRule::kAtOnce});
  cluster.world.run_for(2h);
  const SweepReport report = sweep();
  CHECK(report.stopped == 2);
  CHECK(report.archived == 1);
  CHECK(state(key("thrifty")) == SandboxState::kArchived);
  cluster.world.run_for(24h * 30);
  const SweepReport later = sweep();
  CHECK(later.archived == 0);
  CHECK(later.examined == 0);
  CHECK(state(key("kept")) == SandboxState::kStopped);
  CHECK(cluster.finish(process.archive(sandbox_id_of(key("kept")))));
}

TEST_CASE_METHOD(World, "Idle policy: is read as it was set, beside a source's deletion",
                 "[fault][lifecycle][idle]") {
  const IdlePolicy wanted{.stop_after = 5min, .archive_after = {}, .archive = ArchiveRule::kNever};
  set("demo", wanted);
  const auto read = [&] {
    return cluster.finish(begin_on(process, policy_of(process.manager(), "app/demo"))).value();
  };
  CHECK(read() == wanted);
  cluster.finish(process.destroy_source("app/demo")).value();
  CHECK(read() == wanted);
  cluster.finish(process.revive_source("app/demo")).value();
  CHECK(read() == wanted);
  const auto refused = cluster.finish(
      begin_on(process, set_policy(process.manager(), "app/demo", {.stop_after = -1ms})));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(World, "sweep: a dry run says what it would do and does nothing",
                 "[fault][lifecycle][idle]") {
  wake(key("demo", "ana"));
  wake(key("demo", "bob"));
  cluster.finish(process.stop(sandbox_id_of(key("demo", "bob")))).value();
  cluster.world.run_for(24h * 8);
  const auto writes = cluster.store.writes();
  const SweepReport report = sweep({.dry_run = true});
  CHECK(cluster.store.writes() == writes);
  CHECK(report.stopped == 1);
  CHECK(report.archived == 1);
  REQUIRE(report.planned.size() == 2);
  CHECK(report.planned[0].sandbox == sandbox_id_of(key("demo", "ana")));
  CHECK(report.planned[0].action == "stop");
  CHECK(report.planned[1].action == "archive");
  CHECK(state(key("demo", "ana")) == SandboxState::kRunning);
}

TEST_CASE_METHOD(World, "sweep: tells its progress, and what failed", "[fault][lifecycle][idle]") {
  wake(key("demo", "ana"));
  wake(key("demo", "bob"));
  cluster.finish(process.stop(sandbox_id_of(key("demo", "bob")))).value();
  cluster.node("m1").failing.emplace("open_volume", Error(ErrorCode::kQuotaExceeded, "disk full"));
  cluster.world.run_for(24h * 8);
  std::vector<SweepStep> steps;
  SweepOptions options;
  options.progress = [&](const SweepStep& step, const SweepReport&) { steps.push_back(step); };
  const SweepReport report = sweep(options);
  CHECK(report.failed == 2);  // the one that was stopped now is old enough too
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].action == "stop");
  CHECK(steps[0].error.empty());
  CHECK(steps[1].action == "archive");
  CHECK(steps[1].error.find("disk full") != std::string::npos);
  const auto refused =
      cluster.finish(begin_on(process, sweep_with(process.manager(), {.at_once = 0})));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(World, "sweep: so many at once as it is told, and no more",
                 "[fault][lifecycle][idle]") {
  std::vector<SandboxId> all;
  for (int i = 0; i < 12; ++i) {
    const WorkspaceKey user = key("crowd", "u" + std::to_string(i));
    wake(user);
    all.push_back(sandbox_id_of(user));
  }
  cluster.world.run_for(2h);
  std::size_t most = 0;
  SweepOptions options;
  const std::size_t allowed = GENERATE(std::size_t{0}, std::size_t{2});
  if (allowed > 0) options.at_once = static_cast<std::uint32_t>(allowed);
  // Each says it when its own stop is over; the others that run then are one less than at once.
  options.progress = [&](const SweepStep&, const SweepReport&) {
    std::size_t running = 1;
    for (const SandboxId& sandbox : all) {
      if (cluster.store.record(sandbox)->operation) ++running;
    }
    most = std::max(most, running);
  };
  CHECK(sweep(options).stopped == 12);
  CHECK(most == (allowed > 0 ? allowed : 4));
}

TEST_CASE_METHOD(World, "sweep: a source with very many does not hold up the others",
                 "[fault][lifecycle][idle]") {
  for (int i = 0; i < 30; ++i) wake(key("crowd", "u" + std::to_string(i)));
  wake(key("lone"));
  cluster.world.run_for(2h);
  std::vector<SandboxId> order;
  SweepOptions options;
  options.at_once = 1;
  options.progress = [&](const SweepStep& step, const SweepReport&) {
    order.push_back(step.sandbox);
  };
  CHECK(sweep(options).stopped == 31);
  const auto lone = std::find(order.begin(), order.end(), sandbox_id_of(key("lone")));
  CHECK(lone - order.begin() == 1);
  CHECK(order[0] == sandbox_id_of(key("crowd", "u0")));  // the oldest
}

TEST_CASE("sweep: many hosts at once do each thing once", "[fault][lifecycle][idle]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimCluster cluster(seed);
    std::vector<SimProcess*> processes;
    for (int i = 0; i < 3; ++i) processes.push_back(&cluster.start());
    for (int i = 0; i < 6; ++i) {
      const WorkspaceKey wanted = key("demo", "u" + std::to_string(i));
      cluster.finish(processes[0]->acquire(wanted)).value();
      cluster.finish(processes[0]->release(sandbox_id_of(wanted))).value();
    }
    cluster.world.run_for(2h);
    std::vector<Pending<Result<SweepReport>>> sweeps;
    for (SimProcess* process : processes) sweeps.push_back(process->sweep());
    std::uint32_t stopped = 0;
    for (const auto& sweep : sweeps) {
      const SweepReport report = cluster.finish(sweep).value();
      CHECK(report.errors.empty());
      stopped += report.stopped;
    }
    INFO("seed " << seed);
    CHECK(stopped == 6);
    CHECK(cluster.node("m1").instances.empty());
  }
}

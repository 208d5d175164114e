// What an observer and the counters are told.
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

/// The events that ended an operation: "stop idle running".
std::vector<std::string> endings(const SimProcess& process) {
  std::vector<std::string> texts;
  for (const LifecycleEvent& event : process.events()) {
    if (!event.completed) continue;
    texts.push_back(std::string(name_of(event.kind)) + " " + std::string(name_of(event.reason)) +
                    " " + std::string(name_of(event.state)));
  }
  return texts;
}

bool has_line(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("Events: each ending is told with its reason and how long it took",
          "[fault][lifecycle][events]") {
  SimCluster cluster(6);
  SimProcess& process = cluster.start();
  cluster.finish(process.acquire(key_of("ana"))).value();
  cluster.finish(process.release(sandbox())).value();
  cluster.world.run_for(2h);
  cluster.finish(process.sweep()).value();
  cluster.finish(process.archive(sandbox())).value();
  cluster.finish(process.acquire(key_of("ana"))).value();
  cluster.finish(process.destroy_source("app/demo")).value();
  CHECK(endings(process) == std::vector<std::string>{"provision acquire running",
                                                     "stop idle stopped", "archive asked archived",
                                                     "restore acquire running",
                                                     "destroy source absent"});
  for (const LifecycleEvent& event : process.events()) {
    if (event.completed) CHECK(event.duration > 0ms);
    CHECK(event.duration < 5s);
  }
}

TEST_CASE("Events: what failed is told with its error and counted apart",
          "[fault][lifecycle][events]") {
  SimCluster cluster(6);
  SimProcess& process = cluster.start();
  cluster.node("m1").failing.emplace("start_instance", Error(ErrorCode::kProvider, "no bwrap"));
  CHECK_FALSE(cluster.finish(process.acquire(key_of("ana"))));
  const LifecycleEvent& last = process.events().back();
  CHECK(last.kind == OperationKind::kProvision);
  CHECK_FALSE(last.completed);
  CHECK(last.error.find("no bwrap") != std::string::npos);
  const std::string text = cluster.finish(begin_on(process, metrics_of(process.manager()))).value();
  CHECK(has_line(text,
                 "cove_operations_total{operation=\"provision\",reason=\"acquire\","
                 "outcome=\"failed\"} 1"));
}

TEST_CASE("Events: an instance that is gone is told like any transition, once, by who found it",
          "[fault][lifecycle][events]") {
  SimCluster cluster(6);
  SimProcess& process = cluster.start();
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  cluster.node("m1").reboot();
  SECTION("a call") {
    CHECK(cluster.finish(process.report_unreachable(acquired.instance)).value());
    CHECK_FALSE(cluster.finish(process.report_unreachable(acquired.instance)).value());
    CHECK(endings(process) ==
          std::vector<std::string>{"provision acquire running", "lost acquire stopped"});
  }
  SECTION("a call whose swap was done, and its answer lost") {
    cluster.world.record_points(true);
    const auto reported = process.report_unreachable(acquired.instance);
    const auto is_about_to_swap = [&] {
      const auto& points = cluster.world.points();
      return !points.empty() && points.back() == "now:after";
    };
    REQUIRE(cluster.world.run_until(is_about_to_swap));
    cluster.world.faults.draw(1, {{SimFaultKind::kLostReply, 100'000}});
    const auto is_stopped = [&] {
      return cluster.store.record(sandbox())->state == SandboxState::kStopped;
    };
    REQUIRE(cluster.world.run_until(is_stopped));
    cluster.world.faults.end();
    CHECK(cluster.finish(reported).value());
    CHECK(endings(process).back() == "lost acquire stopped");
  }
  SECTION("the sweep") {
    CHECK(cluster.finish(process.sweep()).value().lost == 1);
    CHECK(endings(process) ==
          std::vector<std::string>{"provision acquire running", "lost recovery stopped"});
  }
  const LifecycleEvent& event = process.events().back();
  CHECK(event.sandbox == sandbox());
  CHECK(event.phase == Phase::kInstanceStopped);
  CHECK(event.error.empty());
  CHECK(event.duration > 0ms);
  CHECK(event.duration < 5s);
  const std::string text = cluster.finish(begin_on(process, metrics_of(process.manager()))).value();
  CHECK(text.find("cove_operations_total{operation=\"lost\"") != std::string::npos);
  CHECK(has_line(text, "cove_operation_seconds_count{operation=\"lost\"} 1"));
}

TEST_CASE("Metrics: say what there is and what was done", "[fault][lifecycle][events]") {
  SimCluster cluster(6);
  SimProcess& process = cluster.start();
  for (const char* user : {"ana", "bob", "cem"}) {
    cluster.finish(process.acquire(key_of(user))).value();
  }
  cluster.finish(process.stop(sandbox(), StopDrain::kCancel)).value();
  cluster.finish(process.archive(sandbox_id_of(key_of("bob")), StopDrain::kCancel)).value();
  const std::string text = cluster.finish(begin_on(process, metrics_of(process.manager()))).value();
  INFO(text);
  CHECK(text.starts_with("# HELP cove_sandboxes "));
  CHECK(has_line(text, "# TYPE cove_sandboxes gauge"));
  CHECK(has_line(text, "cove_sandboxes{state=\"running\"} 1"));
  CHECK(has_line(text, "cove_sandboxes{state=\"stopped\"} 1"));
  CHECK(has_line(text, "cove_sandboxes{state=\"archived\"} 1"));
  CHECK(has_line(text, "cove_sandboxes_in_use 1"));
  CHECK(has_line(text, "cove_needs_attention 0"));
  CHECK(has_line(text, "cove_operations_running{operation=\"archive\"} 0"));
  CHECK(has_line(text,
                 "cove_operations_total{operation=\"provision\",reason=\"acquire\","
                 "outcome=\"completed\"} 3"));
  CHECK(has_line(text,
                 "cove_operation_steps_total{operation=\"archive\","
                 "phase=\"archive_uploaded\"} 1"));
  CHECK(has_line(text, "cove_operation_seconds_count{operation=\"stop\"} 2"));
}

TEST_CASE("Metrics: show the places of quotas that are in use", "[fault][lifecycle][events]") {
  LifecycleSettings settings;
  settings.running = {.all = 5, .per_source = 0, .per_user = 2};
  SimCluster cluster(6, settings);
  SimProcess& process = cluster.start();
  for (const char* source : {"one", "two"}) {
    cluster.finish(process.acquire({"app", source, "ana"})).value();
  }
  cluster.finish(process.acquire({"app", "one", "bob"})).value();
  const std::string text = cluster.finish(begin_on(process, metrics_of(process.manager()))).value();
  INFO(text);
  CHECK(has_line(text, "# TYPE cove_quota_places gauge"));
  CHECK(has_line(text, "cove_quota_limit{quota=\"running\"} 5"));
  CHECK(has_line(text, "cove_quota_limit{quota=\"running_per_user\"} 2"));
  CHECK(has_line(text, "cove_quota_places{quota=\"running\"} 3"));
  CHECK(has_line(text, "cove_quota_places{quota=\"running_per_user\"} 3"));
  CHECK(has_line(text, "cove_quota_fullest{quota=\"running_per_user\"} 2"));
  CHECK(has_line(text, "cove_quota_at_limit{quota=\"running_per_user\"} 1"));
  CHECK(has_line(text, "cove_quota_at_limit{quota=\"running\"} 0"));
  CHECK(text.find("running_per_source") == std::string::npos);  // not limited
}

TEST_CASE("Metrics: a sandbox that needs attention is counted until something succeeds",
          "[fault][lifecycle][events]") {
  SimCluster cluster(6);
  SimProcess& process = cluster.start();
  const auto acquired = cluster.finish(process.acquire(key_of("ana"))).value();
  cluster.finish(process.stop(sandbox(), StopDrain::kCancel)).value();
  auto& volume = cluster.node("m1").volumes.at(acquired.instance.volume);
  volume.present = false;
  CHECK_FALSE(cluster.finish(process.acquire(key_of("ana"))));
  const auto metrics = [&] {
    return cluster.finish(begin_on(process, metrics_of(process.manager()))).value();
  };
  CHECK(has_line(metrics(), "cove_needs_attention 1"));
  volume.present = true;
  cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(has_line(metrics(), "cove_needs_attention 0"));
}

TEST_CASE("Activity: an acquire and calls count and are seen in the record, holding alone does not",
          "[fault][lifecycle][pain-21]") {
  SimCluster cluster(6);
  SimProcess& process = cluster.start();
  cluster.finish(process.acquire(key_of("ana"))).value();
  const auto record = [&] { return *cluster.store.record(sandbox()); };
  const auto idle = [&] { return cluster.world.store_time() - record().last_active_at; };
  CHECK(idle() < 1s);
  REQUIRE(record().activity.size() == 1);
  CHECK(record().activity[0].owner == process.host().self());
  cluster.world.run_for(20min);  // held, and nobody calls
  CHECK(record().activity[0].expires_at < cluster.world.store_time());
  CHECK(idle() > 10min);
  cluster.finish(process.acquire(key_of("ana"))).value();
  CHECK(idle() < 1s);
  for (int minute = 0; minute < 10; ++minute) {
    process.manager().touch(sandbox());
    cluster.world.run_for(1min);
  }
  CHECK(idle() < 1min);
  CHECK(record().activity[0].expires_at > cluster.world.store_time());
}

TEST_CASE("destroy_source: tells its progress, and goes on where it was cut off",
          "[fault][lifecycle]") {
  SimCluster cluster(9);
  SimProcess& process = cluster.start();
  for (int i = 0; i < 6; ++i) {
    cluster.finish(process.acquire(key_of("u" + std::to_string(i)))).value();
  }
  std::stop_source stop;
  std::vector<std::uint32_t> told;
  const auto progress = [&](const SourceProgress& so_far) {
    told.push_back(so_far.destroyed);
    CHECK(so_far.failed == 0);
    if (so_far.destroyed == 2) stop.request_stop();
  };
  const CallContext call{std::nullopt, stop.get_token()};
  const auto cut = cluster.finish(
      begin_on(process, destroy_with(process.manager(), "app/demo", progress, call)));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code() == ErrorCode::kCancelled);
  CHECK(told == std::vector<std::uint32_t>{1, 2});
  CHECK(cluster.store.records().size() == 4);
  CHECK_FALSE(cluster.finish(process.acquire(key_of("new"))));
  CHECK(cluster.finish(process.destroy_source("app/demo")).value() == 5);  // the refused one too
  CHECK(cluster.store.records().empty());
}

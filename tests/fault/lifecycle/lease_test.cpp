// Named leases between simulated processes that crash, stand still and lose answers.
#include <catch2/catch.hpp>

#include "base/async/timing.hpp"
#include "support/fixtures/sim_calls.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;

namespace {

using Taken = Result<std::shared_ptr<Lease>>;

Task<Taken> take(LifecycleManager& manager, std::string name, CallContext call) {
  auto lease = co_await manager.leases().acquire(name, call);
  if (!lease) co_return lease.error();
  co_return std::shared_ptr<Lease>(*std::move(lease));
}

Task<Result<void>> give_back(std::shared_ptr<Lease> lease) {
  const CallContext call;
  co_return co_await lease->release(call);
}

Pending<Taken> take_on(SimProcess& process, CallContext call = {}) {
  return begin_on(process, take(process.manager(), "prepare:x", std::move(call)));
}

/// What holders found, and how many there were at once.
struct Seen {
  std::vector<std::shared_ptr<Lease>> holding;
  std::vector<std::uint64_t> tokens;
  int rounds = 0;

  std::ptrdiff_t held() const {
    return std::count_if(holding.begin(), holding.end(),
                         [](const auto& lease) { return lease->held(); });
  }
};

Task<bool> use_often(SimProcess& process, Seen& seen) {
  const CallContext call;
  for (int i = 0; i < 4; ++i) {
    auto taken = co_await take(process.manager(), "prepare:x", call);
    if (!taken) continue;
    const std::shared_ptr<Lease> lease = *taken;
    seen.holding.push_back(lease);
    if (lease->held()) seen.tokens.push_back(lease->token());
    const Instant later = process.host().now() + 2s;
    static_cast<void>(co_await base::sleep_until(process.host(), later, call));
    std::erase(seen.holding, lease);
    static_cast<void>(co_await lease->release(call));
    ++seen.rounds;
  }
  co_return true;
}

}  // namespace

TEST_CASE("Lease: of many processes one holds it, whatever answers are lost",
          "[fault][lifecycle][lease]") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SimCluster cluster(seed);
    Seen seen;
    std::vector<Pending<bool>> all;
    std::vector<SimProcess*> processes;
    for (int i = 0; i < 4; ++i) {
      processes.push_back(&cluster.start(i % 2 == 0 ? "m1" : "m2"));
      processes.back()->host().knows_deaths = false;
    }
    cluster.world.faults.draw(seed, {{SimFaultKind::kLostRequest, 3000},
                                     {SimFaultKind::kLostReply, 3000},
                                     {SimFaultKind::kSlow, 1000},
                                     {SimFaultKind::kPause, 500}});
    for (SimProcess* process : processes)
      all.push_back(begin_on(*process, use_often(*process, seen)));
    std::ptrdiff_t most = 0;
    cluster.world.run_until([&] {
      most = std::max(most, seen.held());
      return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->has_value(); });
    });
    cluster.world.faults = {};
    INFO("seed " << seed);
    CHECK(most == 1);
    CHECK(seen.rounds > 0);
    CHECK(std::is_sorted(seen.tokens.begin(), seen.tokens.end()));
    CHECK(std::adjacent_find(seen.tokens.begin(), seen.tokens.end()) == seen.tokens.end());
  }
}

TEST_CASE("Lease: that of a crashed process is taken at once on its machine, else at its end",
          "[fault][lifecycle][lease]") {
  SimCluster cluster(7);
  SimProcess& dying = cluster.start("m1");
  SimProcess& near = cluster.start("m1");
  SimProcess& far = cluster.start("m2");
  const bool same_machine = GENERATE(true, false);
  far.host().knows_deaths = false;
  const auto held = cluster.finish(take_on(dying)).value();
  dying.host().crash();
  const Instant before = cluster.world.now();
  const auto taken = cluster.finish(take_on(same_machine ? near : far)).value();
  CHECK(taken->token() > held->token());
  const auto waited = cluster.world.now() - before;
  if (same_machine) {
    CHECK(waited < 1s);
  } else {
    CHECK(waited > 59s);
    CHECK(waited < 62s);
  }
}

TEST_CASE("Lease: a holder that stood still finds out before it acts again",
          "[fault][lifecycle][lease]") {
  SimCluster cluster(7);
  SimProcess& sleeper = cluster.start();
  SimProcess& other = cluster.start();
  const auto slept = cluster.finish(take_on(sleeper)).value();
  REQUIRE(slept->held());
  sleeper.host().pause_until(cluster.world.now() + 10min);
  const auto taken = cluster.finish(take_on(other)).value();
  CHECK_FALSE(slept->held());
  CHECK(taken->held());
  cluster.world.run_for(11min);
  CHECK(slept->lost().stop_requested());
  CHECK_FALSE(slept->held());
  CHECK(taken->held());
  CHECK(cluster.finish(begin_on(sleeper, give_back(slept))));
  CHECK(taken->held());
}

TEST_CASE("Lease: who waited longest is next, and who gives up is passed by",
          "[fault][lifecycle][lease]") {
  SimCluster cluster(7);
  std::vector<SimProcess*> processes;
  for (int i = 0; i < 4; ++i) processes.push_back(&cluster.start());
  auto first = cluster.finish(take_on(*processes[0])).value();
  const CallContext soon{cluster.world.now() + 5s, {}};
  const auto gives_up = take_on(*processes[1], soon);
  cluster.world.run_for(1s);
  const auto second = take_on(*processes[2]);
  cluster.world.run_for(1s);
  const auto third = take_on(*processes[3]);
  cluster.world.run_for(10s);
  REQUIRE(gives_up->has_value());
  CHECK(gives_up->value().error().code() == ErrorCode::kTimeout);
  CHECK(cluster.finish(begin_on(*processes[0], give_back(first))));
  auto next = cluster.finish(second).value();
  cluster.world.run_for(10s);
  CHECK_FALSE(third->has_value());
  CHECK(cluster.finish(begin_on(*processes[2], give_back(next))));
  CHECK(cluster.finish(third));
}

TEST_CASE("Lease: the sweep removes one that nobody had for as long as tombstones are kept",
          "[fault][lifecycle][lease]") {
  LifecycleSettings settings;
  settings.tombstone_keep = 1h;
  SimCluster cluster(7, settings);
  SimProcess& process = cluster.start();
  auto lease = cluster.finish(take_on(process)).value();
  const std::uint64_t token = lease->token();
  cluster.world.run_for(2h);
  cluster.finish(process.sweep()).value();
  CHECK(cluster.store.count(DocumentKind::kLease) == 1);
  CHECK(lease->held());
  CHECK(cluster.finish(begin_on(process, give_back(lease))));
  cluster.world.run_for(2h);
  cluster.finish(process.sweep()).value();
  CHECK(cluster.store.count(DocumentKind::kLease) == 0);
  CHECK(cluster.finish(take_on(process)).value()->token() > token);
}

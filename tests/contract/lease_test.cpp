// Named leases on every metadata store: one holder at a time, tokens that only grow, first come
// first served.
#include <vector>

#include <catch2/catch.hpp>

#include "base/async/timing.hpp"
#include "contract/c_stores/stores_in_c.hpp"
#include "support/fixtures/lease_hosts.hpp"

using namespace cove;
using namespace cove::test;
using namespace std::chrono_literals;

namespace {

template <class Store>
struct Processes {
  Store store;
  base::SystemIds ids;
  std::set<OwnerId> dead;
  std::vector<std::unique_ptr<LeaseHost>> hosts;

  ~Processes() {
    const auto busy = [](const auto& host) { return host->busy(); };
    while (std::any_of(hosts.begin(), hosts.end(), busy)) run(pause(store.loop, store.clock));
  }
  static Task<int> pause(Scheduler& scheduler, const Clock& clock) {
    const CallContext call;
    const Instant later = clock.now() + 1ms;
    static_cast<void>(co_await base::sleep_until(scheduler, later, call));
    co_return 0;
  }
  LeaseHost& add(std::chrono::milliseconds length = 10s) {
    const std::string name = "m1/p" + std::to_string(hosts.size() + 1);
    hosts.push_back(std::make_unique<LeaseHost>(name, *store.store, store.clock, store.loop, ids,
                                                dead, length));
    return *hosts.back();
  }
  template <class T>
  T run(Task<T> task) {
    return base::sync_wait(store.loop, std::move(task));
  }
};

/// What was seen by holders, on the loop's thread.
struct Seen {
  int inside = 0;
  int most_inside = 0;
  std::vector<std::uint64_t> tokens;
};

Task<void> use_often(LeaseHost& host, Scheduler& scheduler, const Clock& clock, Seen& seen) {
  const CallContext call;
  for (int i = 0; i < 5; ++i) {
    auto lease = (co_await host.acquire("prepare:x")).value();
    seen.most_inside = std::max(seen.most_inside, ++seen.inside);
    seen.tokens.push_back(lease->token());
    const Instant later = clock.now() + 1ms;
    static_cast<void>(co_await base::sleep_until(scheduler, later, call));
    --seen.inside;
    (co_await lease->release(call)).value();
  }
}

template <class Store>
Task<int> contend(Processes<Store>& world, Seen& seen) {
  const auto done = base::Completion<int>::make(world.store.loop);
  std::size_t left = world.hosts.size();
  const auto run = [&](LeaseHost& host) -> Task<void> {
    co_await use_often(host, world.store.loop, world.store.clock, seen);
    if (--left == 0) done->complete(0);
  };
  for (const auto& host : world.hosts) base::spawn(world.store.loop, run(*host));
  co_return co_await done->wait();
}

}  // namespace

TEMPLATE_TEST_CASE("Leases: of many processes one has it at a time, with a token that only grows",
                   "[contract][metadata][lease]", EVERY_METADATA_STORE) {
  Processes<TestType> world;
  for (int i = 0; i < 4; ++i) world.add();
  Seen seen;
  world.run(contend(world, seen));
  CHECK(seen.most_inside == 1);
  REQUIRE(seen.tokens.size() == 20);
  CHECK(std::is_sorted(seen.tokens.begin(), seen.tokens.end()));
  CHECK(std::adjacent_find(seen.tokens.begin(), seen.tokens.end()) == seen.tokens.end());
}

TEMPLATE_TEST_CASE("Leases: one that is held is refused at the deadline, and says who has it",
                   "[contract][metadata][lease][pain-33]", EVERY_METADATA_STORE) {
  Processes<TestType> world;
  LeaseHost& first = world.add();
  LeaseHost& second = world.add();
  CHECK_FALSE(world.run(first.find("prepare:x")).value());
  auto lease = world.run(first.acquire("prepare:x")).value();
  CHECK(lease->held());
  const CallContext soon{world.store.clock.now() + 50ms, {}};
  const auto refused = world.run(second.acquire("prepare:x", soon));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kTimeout);
  CHECK(refused.error().describe().find("m1/p1") != std::string::npos);
  const auto status = world.run(second.find("prepare:x")).value();
  REQUIRE(status);
  CHECK(status->holder == OwnerId("m1/p1"));
  CHECK(status->token == lease->token());
  CHECK(world.run(second.pass("prepare:y")));  // another name is another lease
  CHECK(world.run(LeaseHost::release(std::move(lease))));
  CHECK(world.run(second.pass("prepare:x")));
}

TEMPLATE_TEST_CASE("Leases: that of a process that is certainly dead is taken at once",
                   "[contract][metadata][lease]", EVERY_METADATA_STORE) {
  Processes<TestType> world;
  LeaseHost& first = world.add(1h);
  LeaseHost& second = world.add(1h);
  auto lost = world.run(first.acquire("prepare:x")).value();
  world.dead.insert(OwnerId("m1/p1"));
  auto taken = world.run(second.acquire("prepare:x")).value();
  CHECK(taken->token() > lost->token());
  const auto renewed = world.run([](Lease& lease) -> Task<Result<void>> {
    const CallContext call;
    co_return co_await lease.renew(call);
  }(*lost));
  REQUIRE_FALSE(renewed);
  CHECK(renewed.error().code() == ErrorCode::kConflict);
  CHECK_FALSE(lost->held());
  CHECK(lost->lost().stop_requested());
  CHECK(world.run(LeaseHost::release(std::move(lost))));
  CHECK(taken->held());
  CHECK(world.run(LeaseHost::release(std::move(taken))));
}

// A lease over time: its renewals, and when its holder must stop.
#include <catch2/catch.hpp>

#include "base/async/timing.hpp"
#include "metadata/memory/memory_store.hpp"
#include "support/fakes/stepped_scheduler.hpp"
#include "support/fixtures/lease_hosts.hpp"

using namespace cove;
using namespace cove::test;
using namespace std::chrono_literals;

namespace {

/// A store that stands still while `away`.
class AwayStore final : public MetadataStore {
 public:
  explicit AwayStore(const Clock& clock) : inner_(metadata::make_memory_store(clock)) {}
  bool away = false;
  int writes = 0;

  Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                               Durability durability, const CallContext& call) override {
    ++writes;
    if (away) co_return gone();
    co_return co_await inner_->insert(id, document, durability, call);
  }
  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override {
    if (away) co_return gone();
    co_return co_await inner_->find(id, call);
  }
  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability durability,
                                         const CallContext& call) override {
    ++writes;
    if (away) co_return gone();
    co_return co_await inner_->compare_and_swap(id, expected, next, durability, call);
  }
  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override {
    co_return co_await inner_->remove(id, expected, call);
  }
  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override {
    co_return co_await inner_->query(query, call);
  }
  Task<Result<StoreTime>> now(const CallContext& call) override {
    if (away) co_return gone();
    co_return co_await inner_->now(call);
  }

 private:
  static Error gone() { return Error(ErrorCode::kUnavailable, "the store is away"); }
  std::shared_ptr<MetadataStore> inner_;
};

struct World {
  SteppedScheduler scheduler;
  AwayStore store{scheduler};
  CountingIds ids;
  std::set<OwnerId> dead;
  LeaseHost first{"m1/p1", store, scheduler, scheduler, ids, dead};
  LeaseHost second{"m1/p2", store, scheduler, scheduler, ids, dead};

  void pass(Duration length) {
    const CallContext call;
    static_cast<void>(scheduler.run(
        [](SteppedScheduler& on, Instant until, CallContext context) -> Task<Result<void>> {
          co_return co_await base::sleep_until(on, until, context);
        }(scheduler, scheduler.now() + length, call)));
  }
};

}  // namespace

TEST_CASE("Lease: is renewed by itself for as long as it is there", "[unit][lifecycle][lease]") {
  World world;
  auto lease = world.scheduler.run(world.first.acquire("prepare:x")).value();
  const int before = world.store.writes;
  world.pass(1h);
  CHECK(lease->held());
  CHECK_FALSE(lease->lost().stop_requested());
  CHECK(world.store.writes - before >= 120);
  CHECK(world.store.writes - before <= 240);
  const CallContext soon{world.scheduler.now() + 1s, {}};
  const auto refused = world.scheduler.run(world.second.acquire("prepare:x", soon));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kTimeout);
  CHECK(world.scheduler.run(LeaseHost::release(std::move(lease))));
  CHECK(world.scheduler.run(world.second.acquire("prepare:x")));
}

TEST_CASE("Lease: its holder stops at two thirds where renewals do not arrive",
          "[unit][lifecycle][lease]") {
  World world;
  auto lease = world.scheduler.run(world.first.acquire("prepare:x")).value();
  world.store.away = true;
  world.pass(39s);
  CHECK(lease->held());
  world.pass(2s);
  CHECK_FALSE(lease->held());
  CHECK(lease->lost().stop_requested());
  world.store.away = false;
  const auto taken = world.scheduler.run(world.second.acquire("prepare:x"));
  REQUIRE(taken);
  CHECK((*taken)->token() > lease->token());
  CHECK(world.scheduler.run(LeaseHost::release(std::move(lease))));
  CHECK((*taken)->held());
}

TEST_CASE("Lease: one that its holder let go of is free without waiting",
          "[unit][lifecycle][lease]") {
  World world;
  auto lease = world.scheduler.run(world.first.acquire("prepare:x")).value();
  lease.reset();
  const Instant before = world.scheduler.now();
  CHECK(world.scheduler.run(world.second.acquire("prepare:x")));
  CHECK(world.scheduler.now() - before < 1s);
}

TEST_CASE("Lease: a caller that stops waiting takes its ticket back", "[unit][lifecycle][lease]") {
  World world;
  auto lease = world.scheduler.run(world.first.acquire("prepare:x")).value();
  const CallContext soon{world.scheduler.now() + 1s, {}};
  CHECK_FALSE(world.scheduler.run(world.second.acquire("prepare:x", soon)));
  world.pass(1s);
  const auto status = world.scheduler.run(world.first.find("prepare:x")).value();
  REQUIRE(status);
  CHECK(status->waiting.empty());
  CHECK(status->holder == OwnerId("m1/p1"));
}

TEST_CASE("Lease: a store that is away for a moment delays an acquire and nothing more",
          "[unit][lifecycle][lease]") {
  World world;
  world.store.away = true;
  world.scheduler.call_at(world.scheduler.now() + 300ms, [&] { world.store.away = false; });
  CHECK(world.scheduler.run(world.first.acquire("prepare:x")));
  world.store.away = true;
  const auto refused = world.scheduler.run(world.first.acquire("prepare:y"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("Leases: a bad name is refused", "[unit][lifecycle][lease]") {
  World world;
  for (const std::string& name : {std::string(), std::string("a\0b", 3), std::string(513, 'x')}) {
    const auto refused = world.scheduler.run(world.first.acquire(name));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  }
}

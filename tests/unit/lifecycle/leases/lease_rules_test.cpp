#include "lifecycle/leases/lease_rules.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::lifecycle;
using namespace std::chrono_literals;

namespace {

const StoreTime kNow(1000s);

struct Table {
  LeaseDocument document{.name = "prepare:x"};
  std::set<OwnerId> dead;

  LeaseAsker asker(const std::string& name, StoreTime now = kNow) const {
    return {LeaseHoldId(name), OwnerId("m1/" + name), now, 60s,
            [this](const OwnerId& owner) { return dead.contains(owner); }};
  }
  bool takes(const std::string& name, StoreTime now = kNow) {
    auto taken = take(document, asker(name, now));
    if (taken) document = *std::move(taken);
    return document.holder == LeaseHoldId(name);
  }
  bool queues(const std::string& name, StoreTime now = kNow,
              std::optional<StoreTime> deadline = {}) {
    auto queued = queue_up(document, asker(name, now), deadline).value();
    if (!queued) return false;
    document = *std::move(queued);
    return true;
  }
  void gives_back(const std::string& name) {
    document = withdraw(document, LeaseHoldId(name), kNow).value();
  }
};

}  // namespace

TEST_CASE("Lease rules: a free one is taken, a held one is not", "[unit][lifecycle][lease]") {
  Table table;
  CHECK(table.takes("a"));
  CHECK(table.document.expires_at == kNow + 60s);
  CHECK_FALSE(table.takes("b"));
  table.gives_back("a");
  CHECK(table.takes("b"));
}

TEST_CASE("Lease rules: an expired one, or a dead process's, is free", "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  CHECK_FALSE(table.takes("b", kNow + 60s));
  SECTION("expired") { CHECK(table.takes("b", kNow + 60s + 1ms)); }
  SECTION("dead") {
    table.dead.insert(OwnerId("m1/a"));
    CHECK(table.takes("b"));
  }
}

TEST_CASE("Lease rules: tokens grow, also after the document was removed",
          "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  const auto first = table.document.token;
  table.gives_back("a");
  REQUIRE(table.takes("b"));
  CHECK(table.document.token == first + 1);
  Table later;
  REQUIRE(later.takes("c", kNow + 1s));
  CHECK(later.document.token > table.document.token);
}

TEST_CASE("Lease rules: who came first is served first", "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  CHECK(table.queues("b"));
  CHECK(table.queues("c"));
  table.gives_back("a");
  CHECK_FALSE(table.takes("c"));
  CHECK_FALSE(table.takes("d"));
  CHECK(table.takes("b"));
  CHECK(table.document.waiters.size() == 1);
  table.gives_back("b");
  CHECK(table.takes("c"));
}

TEST_CASE("Lease rules: a ticket whose time is over, or whose owner died, holds up nobody",
          "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  REQUIRE(table.queues("b", kNow, kNow + 5s));
  REQUIRE(table.queues("c"));
  table.gives_back("a");
  CHECK_FALSE(table.takes("d", kNow + 1s));
  SECTION("its deadline passed") { CHECK(table.takes("c", kNow + 5s)); }
  SECTION("it is dead") {
    table.dead.insert(OwnerId("m1/b"));
    CHECK(table.takes("c"));
  }
}

TEST_CASE("Lease rules: a ticket is written once and renewed at half its time",
          "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  CHECK(table.queues("b"));
  CHECK_FALSE(table.queues("b", kNow + 29s));
  CHECK(table.queues("b", kNow + 31s));
  REQUIRE(table.document.waiters.size() == 1);
  CHECK(table.document.waiters[0].until == kNow + 91s);
}

TEST_CASE("Lease rules: no more than so many wait", "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  for (std::size_t i = 0; i < kMaxLeaseWaiters; ++i) table.queues("w" + std::to_string(i));
  const auto refused = queue_up(table.document, table.asker("late"), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("Lease rules: only the holder renews", "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  const auto renewed = renew(table.document, LeaseHoldId("a"), kNow + 10s, 60s).value();
  CHECK(renewed.expires_at == kNow + 70s);
  CHECK(renewed.token == table.document.token);
  const auto refused = renew(table.document, LeaseHoldId("b"), kNow, 60s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kConflict);
  CHECK_FALSE(withdraw(table.document, LeaseHoldId("b"), kNow));
}

TEST_CASE("Lease document: comes back as it was written", "[unit][lifecycle][lease]") {
  Table table;
  REQUIRE(table.takes("a"));
  REQUIRE(table.queues("b"));
  const auto read = parse_lease(to_json(table.document)).value();
  CHECK(to_json(read) == to_json(table.document));
  CHECK(parse_lease("{\"version\": 2}").error().code() == ErrorCode::kIntegrity);
  CHECK(parse_lease("x").error().code() == ErrorCode::kIntegrity);
}

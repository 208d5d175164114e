#include "agent/exec/command_hold.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using namespace std::chrono_literals;
using agent::CommandHold;
using agent::SteadyTime;

namespace {
const SteadyTime kNow{std::chrono::hours(1)};
}

TEST_CASE("CommandHold: lasts as long as it was asked for, and at most a minute", "[unit][agent]") {
  CommandHold hold;
  CHECK_FALSE(hold.holds(kNow));
  REQUIRE(hold.ask("a", 10s, kNow));
  CHECK(hold.holds(kNow + 9s));
  CHECK_FALSE(hold.holds(kNow + 10s));
  REQUIRE(hold.ask("a", 10s, kNow + 5s));
  CHECK(hold.holds(kNow + 14s));
  REQUIRE(hold.ask("a", std::chrono::hours(5), kNow));
  CHECK_FALSE(hold.holds(kNow + 60s));
}

TEST_CASE("CommandHold: what was taken back does not come again", "[unit][agent]") {
  CommandHold hold;
  REQUIRE(hold.ask("a", 10s, kNow));
  REQUIRE(hold.ask("a", 0s, kNow + 1s));
  CHECK_FALSE(hold.holds(kNow + 1s));
  CHECK(hold.ask("a", 10s, kNow + 2s).error().code() == ErrorCode::kConflict);
  CHECK_FALSE(hold.holds(kNow + 2s));
  REQUIRE(hold.ask("b", 10s, kNow + 3s));
  CHECK(hold.holds(kNow + 3s));
}

TEST_CASE("CommandHold: nobody takes back what another asked for", "[unit][agent]") {
  CommandHold hold;
  REQUIRE(hold.ask("b", 10s, kNow));
  REQUIRE(hold.ask("a", 0s, kNow));
  CHECK(hold.holds(kNow));
}

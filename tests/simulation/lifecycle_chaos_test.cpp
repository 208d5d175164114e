#include <catch2/catch.hpp>

#include "support/sim/sim_chaos.hpp"

using namespace cove::testing;

namespace {

void play(ChaosPlan plan, std::uint64_t first, std::uint64_t count) {
  for (plan.seed = first; plan.seed < first + count; ++plan.seed) {
    const auto violations = Chaos(plan).run();
    INFO("seed " << plan.seed);
    for (const auto& violation : violations) UNSCOPED_INFO(violation);
    REQUIRE(violations.empty());
  }
}

}  // namespace

TEST_CASE("Lifecycle: without faults, whatever users do together ends well",
          "[simulation][lifecycle][pain-26]") {
  ChaosPlan plan;
  plan.crashes = false;
  play(plan, 1, 15);
}

TEST_CASE("Lifecycle: processes that die at any step lose no file",
          "[simulation][lifecycle][pain-1][pain-14]") {
  play(ChaosPlan{}, 1000, 25);
}

TEST_CASE("Lifecycle: lost requests and replies, slow calls and pauses lose no file",
          "[simulation][lifecycle][pain-19][pain-23][pain-26]") {
  ChaosPlan plan;
  plan.faults = SimFaults{.lost_request = 15, .lost_reply = 15, .slow = 3, .pause = 2};
  play(plan, 2000, 25);
}

TEST_CASE("Lifecycle: two machines keep out of each other's way", "[simulation][lifecycle]") {
  ChaosPlan plan;
  plan.machines = 2;
  plan.processes = 4;
  plan.faults = SimFaults{.lost_request = 5, .lost_reply = 5, .slow = 2, .pause = 1};
  play(plan, 3000, 15);
}

TEST_CASE("Lifecycle: a thousand stories with every fault", "[simulation][lifecycle][slow]") {
  ChaosPlan plan;
  plan.users = 3;
  plan.processes = 4;
  plan.actions = 150;
  plan.faults = SimFaults{.lost_request = 15, .lost_reply = 15, .slow = 4, .pause = 3};
  play(plan, 10'000, 1000);
}

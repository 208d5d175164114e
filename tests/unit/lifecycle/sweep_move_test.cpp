#include "lifecycle/requests/sweep_move.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::lifecycle;
using namespace std::chrono_literals;

TEST_CASE("Back-off: doubles with each failure, within a quarter, up to an hour",
          "[unit][lifecycle][pain-83]") {
  const SandboxId sandbox("app-1");
  CHECK(back_off(sandbox, 0) == 0ms);
  std::chrono::milliseconds whole = 10s;
  for (std::uint32_t failures = 1; failures <= 20; ++failures) {
    const auto length = back_off(sandbox, failures);
    CHECK(length >= whole * 3 / 4);
    CHECK(length <= whole * 5 / 4);
    whole = std::min<std::chrono::milliseconds>(whole * 2, 1h);
  }
}

TEST_CASE("Back-off: what failed together is not tried together", "[unit][lifecycle][pain-83]") {
  std::set<std::chrono::milliseconds> lengths;
  for (int i = 0; i < 50; ++i) lengths.insert(back_off(SandboxId("app-" + std::to_string(i)), 3));
  CHECK(lengths.size() > 40);
  CHECK(back_off(SandboxId("app-1"), 3) == back_off(SandboxId("app-1"), 3));
}

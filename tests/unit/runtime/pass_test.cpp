// Passes: when a call may go straight to its guest.
#include <chrono>

#include <catch2/catch.hpp>

#include "base/async/io_loop.hpp"
#include "runtime/use/seat.hpp"
#include "support/fakes/fake_guest.hpp"

using namespace cove;
using namespace std::chrono_literals;
using runtime::Pass;

namespace {

const InstanceRef kInstance{{DeploymentId("d"), SandboxId("app-1"), Generation("g")}, Epoch{1}};
const Instant kNow = Instant(5s);

}  // namespace

TEST_CASE("Pass: it is for its time, and for who was shown in", "[unit][runtime]") {
  base::IoLoop loop;
  const auto guest = std::make_shared<testing::FakeGuest>(loop);
  Pass pass;
  CHECK_FALSE(pass.way(0, kNow));
  CHECK_FALSE(pass.way(1, kNow));
  CHECK_FALSE(pass.is_valid(kNow));

  const auto shown = pass.give({kInstance, guest}, kNow + 1s);
  REQUIRE(pass.way(shown, kNow));
  CHECK(pass.way(shown, kNow)->instance == kInstance);
  CHECK(pass.way(shown, kNow)->guest == guest);
  CHECK_FALSE(pass.way(0, kNow));  // a holder that asked nobody yet
  CHECK_FALSE(pass.way(shown, kNow + 1s));
  CHECK_FALSE(pass.is_valid(kNow + 1s));
  CHECK(pass.give({kInstance, guest}, kNow + 2s) == shown);
  CHECK(pass.way(shown, kNow + 1s));

  pass.withdraw();
  CHECK_FALSE(pass.way(shown, kNow));
  const auto next = pass.give({kInstance, guest}, kNow + 2s);
  CHECK(pass.way(next, kNow));
  CHECK_FALSE(pass.way(shown, kNow));  // who was shown in before asks again
}

TEST_CASE("Seat: who doubts it, or moves it, ends its pass", "[unit][runtime]") {
  base::IoLoop loop;
  const auto guest = std::make_shared<testing::FakeGuest>(loop);
  runtime::Seat seat(kInstance.volume.sandbox);
  seat.move_to(kInstance, "local");
  auto shown = seat.pass.give({kInstance, guest}, kNow + 1s);
  seat.move_to(kInstance, "local");
  CHECK(seat.pass.way(shown, kNow));
  SECTION("a doubt") { seat.doubt(); }
  SECTION("another instance") { seat.move_to({kInstance.volume, Epoch{2}}, "local"); }
  CHECK_FALSE(seat.pass.way(shown, kNow));
  CHECK_FALSE(seat.pass.is_valid(kNow));
}

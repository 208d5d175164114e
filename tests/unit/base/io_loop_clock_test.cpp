// Timers of a loop that goes by another clock than the machine's.
#include <atomic>
#include <future>

#include <catch2/catch.hpp>

#include "base/async/io_loop.hpp"
#include "base/system/system_clock.hpp"

using namespace std::chrono_literals;
using namespace cove;

namespace {

/// The machine's clock, set ahead.
class ClockAhead final : public Clock {
 public:
  Instant now() const override { return machine_.now() + ahead.load(); }
  std::atomic<Duration> ahead{Duration(0)};

 private:
  base::SystemClock machine_;
};

}  // namespace

TEST_CASE("IoLoop: timers whose time has come by the clock run when it is set ahead",
          "[unit][base][threads]") {
  ClockAhead clock;
  base::IoLoop loop(&clock);
  std::promise<int> due;
  std::atomic<bool> early{false};
  loop.call_at(clock.now() + 1h, [&] { due.set_value(1); });
  loop.call_at(clock.now() + 10h, [&] { early = true; });
  clock.ahead = 2h;
  loop.clock_moved();
  CHECK(due.get_future().get() == 1);
  std::promise<int> posted;
  loop.post([&] { posted.set_value(2); });
  CHECK(posted.get_future().get() == 2);
  CHECK_FALSE(early);
}

TEST_CASE("IoLoop: a timer that was taken back does not run when the clock is set ahead",
          "[unit][base][threads]") {
  ClockAhead clock;
  base::IoLoop loop(&clock);
  std::atomic<bool> ran{false};
  std::promise<int> later;
  const TimerId timer = loop.call_at(clock.now() + 1h, [&] { ran = true; });
  loop.call_at(clock.now() + 2h, [&] { later.set_value(1); });
  loop.cancel(timer);
  clock.ahead = 3h;
  loop.clock_moved();
  CHECK(later.get_future().get() == 1);
  CHECK_FALSE(ran);
}

TEST_CASE("IoLoop: a clock that is ahead from the start changes no pause", "[unit][base]") {
  ClockAhead clock;
  clock.ahead = 5h;
  base::IoLoop loop(&clock);
  std::promise<Instant> woken;
  const Instant wanted = clock.now() + 20ms;
  loop.call_at(wanted, [&] { woken.set_value(clock.now()); });
  const Instant at = woken.get_future().get();
  CHECK(at >= wanted);
  CHECK(at < wanted + 1h);
}

#include "metadata/sqlite/store_clock.hpp"

#include <catch2/catch.hpp>

using cove::metadata::sqlite::ClockReading;
using cove::metadata::sqlite::StoreClock;

namespace {

struct Machine {
  ClockReading reading{.wall = 1'000'000, .boot = 5'000};

  StoreClock clock() {
    return StoreClock([this] { return reading; });
  }
  void pass(std::int64_t ms) {
    reading.wall += ms;
    reading.boot += ms;
  }
};

}  // namespace

TEST_CASE("StoreClock: it is the wall clock while nobody sets that", "[unit][metadata]") {
  Machine machine;
  StoreClock clock = machine.clock();
  CHECK(clock.now().time == 1'000'000);
  machine.pass(70);
  CHECK(clock.now().time == 1'000'070);
  CHECK(clock.now().offset == 995'000);
}

TEST_CASE("StoreClock: it goes with a wall clock that is set ahead", "[unit][metadata]") {
  Machine machine;
  StoreClock clock = machine.clock();
  (void)clock.now();
  machine.reading.wall += 3'600'000;
  CHECK(clock.now().time == 4'600'000);
}

TEST_CASE("StoreClock: it goes on at the same pace when the wall clock is set back",
          "[unit][metadata]") {
  Machine machine;
  StoreClock clock = machine.clock();
  (void)clock.now();
  machine.reading.wall -= 3'600'000;
  CHECK(clock.now().time == 1'000'000);
  machine.pass(250);
  CHECK(clock.now().time == 1'000'250);
}

TEST_CASE("StoreClock: it is not behind another process of the same boot", "[unit][metadata]") {
  Machine machine;
  StoreClock ahead = machine.clock();
  machine.reading.wall += 60'000;
  const auto moment = ahead.now();
  machine.reading.wall -= 60'000;
  StoreClock behind = machine.clock();
  behind.learn_offset(moment.offset);
  CHECK(behind.now().time == moment.time);
  behind.learn_offset(moment.offset - 5);  // an older one changes nothing
  CHECK(behind.now().time == moment.time);
}

TEST_CASE("StoreClock: after a boot with a wrong wall clock it goes on from the newest time",
          "[unit][metadata]") {
  Machine machine;
  machine.reading = {.wall = 10, .boot = 3};  // a machine without a battery
  StoreClock clock = machine.clock();
  clock.learn_time(1'000'000);
  CHECK(clock.now().time == 1'000'000);
  machine.pass(20);
  CHECK(clock.now().time == 1'000'020);
}

TEST_CASE("StoreClock: a pause between two readings does not set it ahead", "[unit][metadata]") {
  Machine machine;
  StoreClock clock = machine.clock();
  (void)clock.now();
  // The wall clock is read, then the process stands still for a minute, then boot time is read.
  machine.reading.boot += 60'000;
  CHECK(clock.now().time == 1'060'000);
  machine.reading.wall += 60'000;
  CHECK(clock.now().time == 1'060'000);
}

// Two thousand stories with every fault; cove-simulate plays as many more as one likes.
#include <catch2/catch.hpp>

#include "support/story/story.hpp"

using namespace cove::testing;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kShare = 10;  // a tenth of the stories; they take many times as long
#else
constexpr std::uint64_t kShare = 1;
#endif

/// Plays the stories from `first` on, of 500.
void play(std::uint64_t first) {
  const std::uint64_t count = 500 / kShare;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    StoryPlan plan;
    plan.seed = seed;
    if (!play_story(plan).failed()) continue;
    FAIL(report(plan));
  }
}

}  // namespace

TEST_CASE("Lifecycle: no story loses a file, seeds 1 to 500",
          "[simulation][lifecycle][pain-1][pain-14]") {
  play(1);
}

TEST_CASE("Lifecycle: no story loses a file, seeds 501 to 1000",
          "[simulation][lifecycle][pain-19][pain-23]") {
  play(501);
}

TEST_CASE("Lifecycle: no story loses a file, seeds 1001 to 1500",
          "[simulation][lifecycle][pain-26]") {
  play(1001);
}

TEST_CASE("Lifecycle: no story loses a file, seeds 1501 to 2000", "[simulation][lifecycle]") {
  play(1501);
}

TEST_CASE("play_story: the same seed is the same story", "[simulation]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    StoryPlan plan;
    plan.seed = seed;
    plan.tells = true;
    const StoryEnd once = play_story(plan);
    const StoryEnd again = play_story(plan);
    CHECK(once.history == again.history);
    CHECK(once.steps == again.steps);
    // Played from its own lists it is the same too: so pieces can be left out of it.
    plan.faults = once.faults;
    plan.actions = once.actions;
    CHECK(play_story(plan).history == once.history);
  }
}

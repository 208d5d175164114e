// The simulation bites: each deliberate fault is found, and what is printed of it is short.
#include <algorithm>

#include <catch2/catch.hpp>

#include "support/story/story.hpp"

using namespace cove::testing;

namespace {

constexpr std::uint64_t kSeeds = 2000;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kEvery = 4;  // stories take many times as long
#else
constexpr std::size_t kEvery = 1;
#endif

/// The first story that a mutation makes fail; none among the seeds: 0.
std::uint64_t first_failure(Mutation mutation) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StoryPlan plan;
    plan.seed = seed;
    plan.mutation = mutation;
    if (play_story(plan).failed()) return seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("Simulation: finds every deliberate fault within 2,000 seeds", "[simulation]") {
  for (std::size_t i = 1; i < kMutations; i += kEvery) {
    const auto mutation = static_cast<Mutation>(i);
    INFO(name_of(mutation));
    const std::uint64_t seed = first_failure(mutation);
    UNSCOPED_INFO("found by seed " << seed);
    CHECK(seed > 0);
  }
}

TEST_CASE("Simulation: a failure is told in a few lines, without what it does not need",
          "[simulation]") {
  StoryPlan plan;
  plan.mutation = Mutation::kVerifySkipped;
  plan.seed = first_failure(plan.mutation);
  REQUIRE(plan.seed > 0);
  const StoryPlan small = minimise(plan);
  REQUIRE(small.actions);
  REQUIRE(small.faults);
  CHECK(play_story(small).failed());
  // A visit, an archive, and the upload that is spoiled; what else may be left is little. Where the
  // one who uploads came after others had died, their deaths stay.
  CHECK(small.actions->size() <= 10);
  CHECK(small.faults->size() <= 5);
  const std::string text = report(plan);
  INFO(text);
  CHECK(text.find("mutation verify-skipped") != std::string::npos);
  CHECK(text.find("spoiled upload at upload") != std::string::npos);
  CHECK(text.find("WRONG: ") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') < 60);
}

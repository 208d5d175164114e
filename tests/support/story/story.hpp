/// A seeded story: hosts with the real LifecycleManager on one store, users who come and go, and
/// whatever can go wrong, at every call; then everything is repaired, and every file that was
/// acknowledged must be there.
///
///     const StoryEnd end = play_story({.seed = 17});
///     if (end.failed()) puts(report(StoryPlan{.seed = 17}, end).c_str());
///
/// docs/simulation.md explains it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/story/cast.hpp"
#include "support/story/mutations.hpp"

namespace cove::testing {

struct StoryPlan {
  std::uint64_t seed = 1;
  Mutation mutation = Mutation::kNone;
  std::uint64_t steps = 300;  ///< effects of calls, before everything is repaired
  /// These instead of those that the seed gives.
  std::optional<std::vector<SimFault>> faults;
  std::optional<std::vector<Action>> actions;
  bool tells = false;  ///< keeps a history
};

struct StoryEnd {
  std::vector<std::string> violations;  ///< what must never be, and was
  std::vector<SimFault> faults;         ///< what went wrong on the way
  std::vector<Action> actions;          ///< what was done
  std::vector<std::string> history;     ///< where the plan tells
  std::uint64_t steps = 0;

  bool failed() const { return !violations.empty(); }
};

StoryEnd play_story(const StoryPlan& plan);

/// The same failure with as few actions and faults as can be found in `tries` runs.
/// REQUIRES: the plan fails.
StoryPlan minimise(const StoryPlan& plan, int tries = 400);

/// What went wrong and how it came to it, for people: the minimised story's history.
std::string report(const StoryPlan& plan);

}  // namespace cove::testing

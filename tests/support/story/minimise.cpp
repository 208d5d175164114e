#include <algorithm>

#include "support/story/story.hpp"

namespace cove::testing {
namespace {

/// Leaves pieces of a list out, large ones first, as long as the story still fails.
class Reduction {
 public:
  Reduction(StoryPlan plan, int tries) : plan_(std::move(plan)), tries_(tries) {}

  template <class T>
  void reduce(std::optional<std::vector<T>> StoryPlan::* list) {
    for (std::size_t piece = std::max<std::size_t>((plan_.*list)->size() / 2, 1); piece > 0;
         piece /= 2) {
      // From the end: what comes late matters least for what comes before.
      for (std::size_t end = (plan_.*list)->size(); end > 0 && tries_ > 0;) {
        const std::size_t first = end > piece ? end - piece : 0;
        StoryPlan smaller = plan_;
        auto& items = *(smaller.*list);
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(first),
                    items.begin() + static_cast<std::ptrdiff_t>(std::min(end, items.size())));
        --tries_;
        if (play_story(smaller).failed()) plan_ = std::move(smaller);
        end = first;
      }
    }
  }

  const StoryPlan& plan() const { return plan_; }
  bool may_go_on() const { return tries_ > 0; }

 private:
  StoryPlan plan_;
  int tries_;
};

std::size_t size_of(const StoryPlan& plan) { return plan.actions->size() + plan.faults->size(); }

}  // namespace

StoryPlan minimise(const StoryPlan& plan, int tries) {
  const StoryEnd first = play_story(plan);
  StoryPlan listed = plan;
  listed.faults = first.faults;
  listed.actions = first.actions;
  // A story played from its own lists is the same story; else nothing can be left out of it.
  if (!play_story(listed).failed()) return plan;
  Reduction reduction(std::move(listed), tries);
  std::size_t before = 0;
  do {
    before = size_of(reduction.plan());
    reduction.reduce(&StoryPlan::actions);
    reduction.reduce(&StoryPlan::faults);
  } while (size_of(reduction.plan()) < before && reduction.may_go_on());
  return reduction.plan();
}

std::string report(const StoryPlan& plan) {
  const StoryEnd whole = play_story(plan);
  StoryPlan small = minimise(plan);
  small.tells = true;
  const StoryEnd end = play_story(small);
  std::string text = "seed " + std::to_string(plan.seed);
  if (plan.mutation != Mutation::kNone) text += ", mutation " + std::string(name_of(plan.mutation));
  text += ": " + std::to_string(whole.actions.size()) + " actions and " +
          std::to_string(whole.faults.size()) + " faults, of which " +
          std::to_string(end.actions.size()) + " and " + std::to_string(end.faults.size()) +
          " are enough\n";
  for (const std::string& violation : end.violations) text += "  " + violation + "\n";
  for (const std::string& line : end.history) text += line + "\n";
  return text;
}

}  // namespace cove::testing

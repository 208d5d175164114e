#include "support/story/cast.hpp"

#include <array>
#include <random>

namespace cove::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kActions = 90;

struct Weight {
  ActionKind kind;
  std::uint32_t weight;
  bool is_usual;  ///< in every story; the others are left out of most
};
constexpr std::array<Weight, kActionKinds> kWeights{{
    {ActionKind::kVisit, 40, true},
    {ActionKind::kRelease, 6, true},
    {ActionKind::kStop, 9, true},
    {ActionKind::kArchive, 12, true},
    {ActionKind::kSweep, 10, true},
    {ActionKind::kReport, 5, true},
    {ActionKind::kReboot, 3, false},
    {ActionKind::kClose, 3, false},
    {ActionKind::kDestroy, 6, false},
    {ActionKind::kDestroySource, 4, false},
    {ActionKind::kReviveSource, 4, false},
    {ActionKind::kDamage, 5, false},
    {ActionKind::kHide, 4, false},
    {ActionKind::kMend, 3, false},
    {ActionKind::kForget, 2, false},
    {ActionKind::kRelocate, 14, false},
}};

struct Storm {
  SimFaultKind kind;
  std::uint32_t rate;  ///< in 100,000 calls
};
constexpr std::array kStorms{
    Storm{SimFaultKind::kLostRequest, 1200}, Storm{SimFaultKind::kLostReply, 1500},
    Storm{SimFaultKind::kRepeated, 800},     Storm{SimFaultKind::kSlow, 600},
    Storm{SimFaultKind::kPause, 700},        Storm{SimFaultKind::kCrashBefore, 700},
    Storm{SimFaultKind::kCrashAfter, 900},   Storm{SimFaultKind::kCrashSoon, 500},
    Storm{SimFaultKind::kSkew, 300},         Storm{SimFaultKind::kPowerBefore, 300},
    Storm{SimFaultKind::kPowerAfter, 700},   Storm{SimFaultKind::kStoreCrash, 200},
    Storm{SimFaultKind::kSpoiled, 12'000}};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t number) { return below(number) == 0; }
  std::uint32_t number() { return static_cast<std::uint32_t>(random_() >> 32U); }

 private:
  std::mt19937_64 random_;
};

std::chrono::milliseconds draw_wait(Draw& draw) {
  const auto upto = [&](std::chrono::milliseconds most) {
    return std::chrono::milliseconds(draw.below(static_cast<std::uint64_t>(most.count())));
  };
  const auto kind = draw.below(100);
  if (kind < 62) return upto(30ms);
  if (kind < 80) return upto(3s);
  if (kind < 92) return upto(90s);
  if (kind < 97) return kStopAfter + upto(kStopAfter);
  if (kind < 99) return kArchiveAfter + upto(kStopAfter);
  return kTombstoneKeep;
}

/// Which actions come how often: each story leaves some out, so that others meet more often.
std::vector<Weight> draw_weights(Draw& draw) {
  std::vector<Weight> weights;
  for (Weight weight : kWeights) {
    if (!weight.is_usual && !draw.one_in(3)) continue;
    const bool always = weight.kind == ActionKind::kVisit || weight.kind == ActionKind::kMend;
    if (!always && draw.one_in(5)) continue;
    if (draw.one_in(4)) weight.weight *= 3;
    weights.push_back(weight);
  }
  return weights;
}

ActionKind draw_kind(Draw& draw, const std::vector<Weight>& weights) {
  std::uint64_t all = 0;
  for (const Weight& weight : weights) all += weight.weight;
  std::uint64_t chance = draw.below(all);
  for (const Weight& weight : weights) {
    if (chance < weight.weight) return weight.kind;
    chance -= weight.weight;
  }
  return ActionKind::kVisit;
}

SimFaultRates draw_weather(Draw& draw) {
  SimFaultRates weather;
  if (draw.one_in(12)) return weather;  // a fine day
  const std::uint64_t strength = 1 + draw.below(4);
  for (const Storm& storm : kStorms) {
    const auto rate = static_cast<std::uint32_t>(storm.rate * strength / 2);
    if (draw.one_in(2)) weather[storm.kind] = rate;
  }
  return weather;
}

}  // namespace

std::string_view name_of(ActionKind kind) noexcept {
  constexpr std::array<std::string_view, kActionKinds> kNames{
      "visit",  "release", "stop",    "archive",        "sweep",         "report",
      "reboot", "close",   "destroy", "destroy source", "revive source", "damage",
      "hide",   "mend",    "forget",  "relocate"};
  return kNames.at(static_cast<std::size_t>(kind));
}

WorkspaceKey key_of_user(std::size_t user) {
  std::string name = "user";
  name += std::to_string(user);
  return WorkspaceKey{"app", user % 2 == 0 ? "demo" : "shop", name};
}

std::string source_of_user(std::size_t user) {
  const WorkspaceKey key = key_of_user(user);
  return key.source_type + "/" + key.source_id;
}

std::string machine_name(std::size_t number) {
  // Appended, not added: GCC 12 warns of `"m" + std::to_string(i)` when it optimises.
  std::string name = "m";
  name += std::to_string(number + 1);
  return name;
}

Cast draw_cast(std::uint64_t seed) {
  Draw draw(seed * 2 + 1);
  Cast cast;
  cast.users = 1 + draw.below(3);
  cast.processes = 2 + draw.below(4);
  cast.machines = draw.one_in(3) ? 2 : 1;
  cast.sees_deaths = !draw.one_in(3);
  cast.weather = draw_weather(draw);
  const auto weights = draw_weights(draw);
  for (std::size_t i = 0; i < kActions; ++i) {
    Action action;
    action.kind = draw_kind(draw, weights);
    action.process = draw.number();
    action.user = static_cast<std::uint32_t>(draw.below(cast.users));
    action.choice = draw.number();
    action.wait = draw_wait(draw);
    cast.actions.push_back(action);
  }
  return cast;
}

std::string describe(const Action& action) {
  std::string text(name_of(action.kind));
  text += " of user" + std::to_string(action.user);
  text += ", then " + std::to_string(action.wait.count()) + " ms";
  return text;
}

}  // namespace cove::testing

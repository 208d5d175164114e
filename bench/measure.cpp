#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>

namespace bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

std::optional<double> timed(const Way& way) {
  const auto start = std::chrono::steady_clock::now();
  if (!way.run()) {
    std::fprintf(stderr, "%s: a run failed\n", way.name.c_str());
    return std::nullopt;
  }
  return Milliseconds(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> all;
  for (std::size_t i = 0; i < over.size(); ++i) all.push_back(over[i] / under[i]);
  return all;
}

bool judge(const Goal& goal, const std::vector<double>& first, const std::vector<double>& other) {
  if (goal.at_most) {
    const double ratio = quantile(ratios(first, other), 0.5);
    const bool holds = ratio <= *goal.at_most;
    std::printf("  %-4s %.2fx of %s (goal: at most %.2fx)\n", holds ? "ok" : "MISS", ratio,
                goal.against.c_str(), *goal.at_most);
    return holds;
  }
  const double ratio = quantile(ratios(other, first), 0.5);
  const bool holds = ratio >= goal.at_least.value_or(0);
  std::printf("  %-4s %.1fx faster than %s (goal: at least %.0fx)\n", holds ? "ok" : "MISS", ratio,
              goal.against.c_str(), goal.at_least.value_or(0));
  return holds;
}

}  // namespace

bool measure(const std::string& title, const std::vector<Way>& ways, const std::vector<Goal>& goals,
             int rounds, int warmup) {
  std::map<std::string, std::vector<double>> times;
  for (int round = -warmup; round < rounds; ++round) {
    for (const Way& way : ways) {
      const auto spent = timed(way);
      if (!spent) return false;
      if (round >= 0) times[way.name].push_back(*spent);
    }
  }
  std::printf("%s (%d interleaved rounds, ms)\n", title.c_str(), rounds);
  std::printf("  %-44s %8s %8s %8s\n", "", "p50", "p95", "min");
  for (const Way& way : ways) {
    const auto& all = times[way.name];
    std::printf("  %-44s %8.3f %8.3f %8.3f\n", way.name.c_str(), quantile(all, 0.5),
                quantile(all, 0.95), quantile(all, 0));
  }
  bool hold = true;
  for (const Goal& goal : goals) {
    if (!times.contains(goal.against)) {
      std::printf("  not measured: %s is not on this machine\n", goal.against.c_str());
      continue;
    }
    hold = judge(goal, times[ways.front().name], times[goal.against]) && hold;
  }
  return hold;
}

int exit_status(bool goals_hold, int argc, char** argv) {
  const bool check =
      std::any_of(argv + 1, argv + argc, [](char* a) { return std::strcmp(a, "--check") == 0; });
  return check && !goals_hold ? 1 : 0;
}

}  // namespace bench

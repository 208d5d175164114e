#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace bench {
namespace {

constexpr std::chrono::milliseconds kRest{300};

using Milliseconds = std::chrono::duration<double, std::milli>;

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

std::vector<double> ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> all;
  for (std::size_t i = 0; i < over.size(); ++i) all.push_back(over[i] / under[i]);
  return all;
}

const char* verdict(bool holds) { return holds ? "ok" : "MISS"; }

bool judge(const Goal& goal, const std::vector<double>& first, const std::vector<double>& other) {
  const double slower = quantile(ratios(first, other), 0.5);
  const double faster = quantile(ratios(other, first), 0.5);
  const double tail = quantile(first, 0.95) / quantile(other, 0.95);
  const char* name = goal.against.c_str();
  if (goal.at_most) {
    const bool holds = slower <= *goal.at_most;
    std::printf("  %-4s %.2fx of %s (goal: at most %.2fx); %.2fx at p95\n", verdict(holds), slower,
                name, *goal.at_most, tail);
    return holds;
  }
  if (goal.at_least) {
    const bool holds = faster >= *goal.at_least;
    std::printf("  %-4s %.1fx faster than %s (goal: at least %.0fx)\n", verdict(holds), faster,
                name, *goal.at_least);
    return holds;
  }
  if (goal.of_the_rate) {
    const bool holds = faster >= *goal.of_the_rate;
    std::printf("  %-4s %.2fx of the rate of %s (goal: at least %.2fx)\n", verdict(holds), faster,
                name, *goal.of_the_rate);
    return holds;
  }
  if (slower >= 1) {
    std::printf("  %-4s %.2fx of %s (no goal)\n", "", slower, name);
  } else {
    std::printf("  %-4s %.1fx faster than %s (no goal)\n", "", faster, name);
  }
  return true;
}

/// Awake: a processor that went idle wakes late, and the next way would pay for that.
void pass_time() {
  const auto until = std::chrono::steady_clock::now() + kRest;
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// Nothing where a run failed.
std::optional<std::map<std::string, std::vector<double>>> run_rounds(const std::vector<Way>& ways,
                                                                     int rounds, int warmup) {
  std::map<std::string, std::vector<double>> figures;
  const bool is_apart = std::ranges::any_of(ways, &Way::leaves_work);
  for (int round = -warmup; round < rounds; ++round) {
    for (const Way& way : ways) {
      auto figure = way.run();
      if (figure && is_apart) {
        if (way.leaves_work) pass_time();
        figure = way.run();
      }
      if (!figure) {
        std::fprintf(stderr, "%s: a run failed\n", way.name.c_str());
        return std::nullopt;
      }
      if (round >= 0) figures[way.name].push_back(*figure);
      if (way.leaves_work) pass_time();
    }
  }
  return figures;
}

}  // namespace

std::function<std::optional<double>()> timed(std::function<bool()> work) {
  return [work = std::move(work)]() -> std::optional<double> {
    const auto start = std::chrono::steady_clock::now();
    if (!work()) return std::nullopt;
    return Milliseconds(std::chrono::steady_clock::now() - start).count();
  };
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Measured measure(const std::string& title, const std::vector<Way>& ways,
                 const std::vector<Goal>& goals, int rounds, int warmup) {
  Measured measured;
  auto figures = run_rounds(ways, rounds, warmup);
  if (!figures) return measured;
  measured.ran = measured.holds = true;
  measured.figures = *std::move(figures);
  std::printf("%s (%d interleaved rounds, ms)\n", title.c_str(), rounds);
  std::printf("  %-44s %8s %8s %8s\n", "", "p50", "p95", "min");
  for (const Way& way : ways) {
    const auto& all = measured.figures[way.name];
    std::printf("  %-44s %8.3f %8.3f %8.3f\n", way.name.c_str(), quantile(all, 0.5),
                quantile(all, 0.95), quantile(all, 0));
  }
  for (const Goal& goal : goals) {
    if (!measured.figures.contains(goal.against)) {
      std::printf("  not measured: %s is not on this machine\n", goal.against.c_str());
      continue;
    }
    const auto& first = measured.figures[ways.front().name];
    measured.holds = judge(goal, first, measured.figures[goal.against]) && measured.holds;
  }
  return measured;
}

void add(Measured& all, const Measured& part) {
  all.ran = all.ran && part.ran;
  all.holds = all.holds && part.holds;
}

void require_below(Measured& measured, const std::string& way, double milliseconds) {
  if (!measured.ran) return;
  const double found = median(measured.figures[way]);
  const bool holds = found < milliseconds;
  std::printf("  %-4s %.3f ms for %s at the median (goal: below %.0f ms)\n", verdict(holds), found,
              way.c_str(), milliseconds);
  measured.holds = measured.holds && holds;
}

int exit_status(const Measured& measured, int argc, char** argv) {
  if (!measured.ran) return 1;
  const bool check =
      std::any_of(argv + 1, argv + argc, [](char* a) { return std::strcmp(a, "--check") == 0; });
  return check && !measured.holds ? 1 : 0;
}

}  // namespace bench

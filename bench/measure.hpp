/// Interleaved measurement: every round runs each way once, in turn, so that drift of the machine
/// hits all alike; quoted are medians and the median of the rounds' ratios.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Way {
  std::string name;
  /// One run and its figure in milliseconds; nothing = it failed, and the benchmark ends.
  std::function<std::optional<double>()> run;

  /// What it began goes on behind its answer, as a container's removal does: some time follows,
  /// untimed, so that the next way does not pay for it. It also leaves the processor's caches and
  /// the disk to the next as that would never find them by itself, so in such rounds every way is
  /// run twice, and the second run counts.
  bool leaves_work = false;
};

/// The figure is how long `work` takes; false = it failed.
std::function<std::optional<double>()> timed(std::function<bool()> work);

/// A claim about the first way. With none of the numbers the ratio is only told.
struct Goal {
  std::string against;
  std::optional<double> at_most = {};      ///< first / against, at the median
  std::optional<double> at_least = {};     ///< against / first: so many times faster
  std::optional<double> of_the_rate = {};  ///< the same, for what a goal calls a share of a rate
};

struct Measured {
  std::map<std::string, std::vector<double>> figures;  ///< by way, in the order of the rounds
  bool ran = false;                                    ///< no run failed
  bool holds = false;                                  ///< ran, and no goal was missed
};

/// Runs `rounds` rounds after `warmup` untimed ones, prints a table, and says which goals hold. A
/// goal against a way that is not among `ways` is named as not measured.
Measured measure(const std::string& title, const std::vector<Way>& ways,
                 const std::vector<Goal>& goals, int rounds, int warmup);

/// Adds a part to what a benchmark of several parts has so far.
void add(Measured& all, const Measured& part);

/// A claim about the first way's median alone.
void require_below(Measured& measured, const std::string& way, double milliseconds);

double median(std::vector<double> values);

/// Exit status for main: 1 where a run failed, or where `--check` is among the arguments and a goal
/// was missed.
int exit_status(const Measured& measured, int argc, char** argv);

}  // namespace bench

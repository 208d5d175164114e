/// Interleaved measurement: every round runs each way once, in turn, so that drift of the machine
/// hits all alike; quoted are medians and the median of the rounds' ratios.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Way {
  std::string name;
  std::function<bool()> run;  ///< one timed run; false = it failed, and the benchmark ends
};

/// A claim: the median ratio first way / `against`, at most `at_most`; or, where at_least is set,
/// the ratio `against` / first way is at least that.
struct Goal {
  std::string against;
  std::optional<double> at_most;
  std::optional<double> at_least;
};

/// Runs `rounds` rounds after `warmup` untimed ones, prints a table, and says which goals hold. A
/// goal against a way that is not among `ways` is named as not measured. Returns whether every
/// measured goal holds; false also where a run failed.
bool measure(const std::string& title, const std::vector<Way>& ways, const std::vector<Goal>& goals,
             int rounds, int warmup);

/// Exit status for main: 0, or 1 where `--check` is among the arguments and a goal was missed.
int exit_status(bool goals_hold, int argc, char** argv);

}  // namespace bench

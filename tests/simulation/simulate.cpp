// cove-simulate: plays stories of the lifecycle simulation, in as many processes one after another
// as keep the memory small. docs/simulation.md explains it.
//
//   cove-simulate [--first N] [--count N] [--mutation NAME] [--tell] [--keep-going] [--json]
//
//   --tell        prints the history of the first seed, minimised where it fails
//   --keep-going  counts all failures; else the first one is reported and ends the run
//   --json        prints one line for docs/evidence
//
// Exit code 0: no story failed. 1: one did. 2: wrong arguments.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "support/story/story.hpp"

namespace {

using namespace cove::testing;

constexpr std::uint64_t kBatch = 250;  // stories of one process: what died in them stays in memory

struct Options {
  std::uint64_t first = 1;
  std::uint64_t count = 2000;
  Mutation mutation = Mutation::kNone;
  bool tell = false;
  bool keep_going = false;
  bool json = false;
};

struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t failures = 0;
  std::uint64_t first_failure = 0;
  std::uint64_t steps = 0;
  std::uint64_t faults = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (argument == "--tell") {
      options.tell = true;
    } else if (argument == "--keep-going") {
      options.keep_going = true;
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "--first" && value != nullptr) {
      options.first = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--count" && value != nullptr) {
      options.count = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--mutation" && value != nullptr) {
      options.mutation = mutation_of(argv[++i]);
      if (options.mutation == Mutation::kNone) return false;
    } else {
      return false;
    }
  }
  return options.count > 0;
}

StoryPlan plan_of(const Options& options, std::uint64_t seed) {
  StoryPlan plan;
  plan.seed = seed;
  plan.mutation = options.mutation;
  return plan;
}

/// Plays a batch and writes what came of each story to the pipe.
[[noreturn]] void play_batch(const Options& options, std::uint64_t first, std::uint64_t count,
                             int output) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const StoryEnd end = play_story(plan_of(options, seed));
    const std::uint64_t line[4] = {seed, end.failed() ? 1U : 0U, end.steps, end.faults.size()};
    if (::write(output, line, sizeof line) != sizeof line) ::_exit(3);
  }
  ::_exit(0);
}

void note_failure(const Options& options, Totals& totals, std::uint64_t seed) {
  if (++totals.failures == 1) totals.first_failure = seed;
  if (totals.failures > 1 && options.keep_going) std::printf("seed %lu fails\n", seed);
}

/// False: stop here.
bool run_batch(const Options& options, std::uint64_t first, std::uint64_t count, Totals& totals) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::close(ends[0]);
    play_batch(options, first, count, ends[1]);
  }
  ::close(ends[1]);
  std::uint64_t line[4];
  std::uint64_t next = first;
  while (::read(ends[0], line, sizeof line) == sizeof line) {
    next = line[0] + 1;
    ++totals.seeds;
    totals.steps += line[2];
    totals.faults += line[3];
    if (line[1] != 0) note_failure(options, totals, line[0]);
    if (line[1] != 0 && !options.keep_going) ::kill(child, SIGKILL);
    if (line[1] != 0 && !options.keep_going) break;
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool stopped = totals.failures > 0 && !options.keep_going;
  if (stopped) return false;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  // It died in a story: that is a failure too.
  std::printf("seed %lu ended its process with status %d\n", next, status);
  ++totals.seeds;
  note_failure(options, totals, next);
  return options.keep_going;
}

void print(const Options& options, const Totals& totals, double seconds) {
  if (options.json) {
    std::printf(
        "{\"seeds\": %lu, \"first\": %lu, \"steps\": %lu, \"faults\": %lu, "
        "\"failures\": %lu, \"seconds\": %.0f}\n",
        totals.seeds, options.first, totals.steps, totals.faults, totals.failures, seconds);
    return;
  }
  std::printf("%lu stories, %lu steps, %lu faults, %lu failed, %.1f s\n", totals.seeds,
              totals.steps, totals.faults, totals.failures, seconds);
}

void tell(const Options& options) {
  StoryPlan plan = plan_of(options, options.first);
  if (play_story(plan).failed()) {
    std::fputs(report(plan).c_str(), stdout);
    return;
  }
  plan.tells = true;
  for (const std::string& line : play_story(plan).history) std::puts(line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(
        "usage: cove-simulate [--first N] [--count N] [--mutation NAME] [--tell] "
        "[--keep-going] [--json]\n",
        stderr);
    return 2;
  }
  if (options.tell) {
    tell(options);
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  Totals totals;
  for (std::uint64_t done = 0; done < options.count; done += kBatch) {
    const std::uint64_t count = std::min(kBatch, options.count - done);
    if (!run_batch(options, options.first + done, count, totals)) break;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  print(options, totals, took.count());
  if (totals.failures == 0) return 0;
  std::fputs(report(plan_of(options, totals.first_failure)).c_str(), stdout);
  return 1;
}

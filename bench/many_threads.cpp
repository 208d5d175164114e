// Told: commands per second of 8 threads that each run a static `true` in a loop through one
// SandboxClient, against 8 threads with posix_spawn outside. No goal.
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "warm.hpp"

namespace {

constexpr int kThreads = 8;
constexpr int kCommands = 25;  // of each thread, in one round

bool on_all_threads(const std::function<bool()>& command) {
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kCommands; ++n) failures += command() ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  return failures == 0;
}

}  // namespace

int main(int argc, char** argv) {
  bench::WarmWorkspace warm;
  const cove::SandboxClient client = warm.client();
  const cove::ExecSpec spec{.argv = {warm.put(BENCH_TRUE, "true")}};
  const auto exec = [&] {
    const auto result = client.exec(spec);
    return result && result->succeeded();
  };
  const auto spawn = [] { return bench::spawn_and_read({BENCH_TRUE}); };
  const std::vector<bench::Way> ways{
      {"cove exec, 8 threads", bench::timed([&] { return on_all_threads(exec); })},
      {"posix_spawn, 8 threads", bench::timed([&] { return on_all_threads(spawn); })},
  };
  auto measured = bench::measure("200 commands, 25 by each of 8 threads", ways,
                                 {{.against = "posix_spawn, 8 threads"}}, 30, 3);
  if (measured.ran) {
    for (const auto& way : ways) {
      const double rate = 1000 * kThreads * kCommands / bench::median(measured.figures[way.name]);
      std::printf("  %-44s %8.0f commands per second\n", way.name.c_str(), rate);
    }
  }
  return bench::exit_status(measured, argc, argv);
}

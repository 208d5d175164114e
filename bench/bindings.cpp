// Claims: an exec of a static program through Node or Python costs at most 1.15x of the same in
// C++, a read of 4 KiB at most 60 us more; 200 commands at once from one Node process take at
// most 1.5x the time of 200 child processes of the same, and less memory in the host.
//
// The same in C++ is the form that the binding's call is made of: with a callback from Node,
// blocking from Python. Every host is a process of its own and makes a few calls at a time, whose
// median counts: of a single one most would be what it costs to wake a process up.
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "host_process.hpp"
#include "measure.hpp"
#include "scratch.hpp"

namespace {

using bench::HostProcess;

constexpr int kBurst = 9;
constexpr const char* kElsewhere = " elsewhere";

bench::Way way_of(const std::string& name, HostProcess& host, const std::string& call, int times,
                  const std::string& where = {}) {
  return {name,
          [&host, line = call + " " + std::to_string(times) + where] { return host.ask(line); }};
}

constexpr const char* kCallback = "C++, callback";

void require_added(bench::Measured& measured, const std::string& way, const std::string& to,
                   double microseconds) {
  if (!measured.ran) return;
  const double added =
      (bench::median(measured.figures[way]) - bench::median(measured.figures[to])) * 1000;
  const bool holds = added < microseconds;
  std::printf("  %-4s %s adds %.1f us to %s at the median (goal: below %.0f us)\n",
              holds ? "ok" : "MISS", way.c_str(), added, to.c_str(), microseconds);
  measured.holds = measured.holds && holds;
}

/// Memory of the host at its most while `call` ran, in KiB; 0 = it does not answer.
double peak_of(HostProcess& host, const std::string& call) {
  if (!host.ask("peak") || !host.ask(call + " 1")) return 0;
  return host.ask("peak").value_or(0);
}

bench::Measured compare_memory(HostProcess& ours, HostProcess& theirs) {
  bench::Measured measured;
  const double cove = peak_of(ours, "exec-200");
  const double children = peak_of(theirs, "spawn-200");
  measured.ran = cove > 0 && children > 0;
  measured.holds = measured.ran && cove < children;
  std::printf(
      "  %-4s %.1f MiB in the host with 200 commands, %.1f MiB with 200 children (goal: less)\n",
      measured.holds ? "ok" : "MISS", cove / 1024, children / 1024);
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  bench::ScratchDirectory scratch;
  const auto host = [&](std::vector<std::string> command, const std::string& state) {
    command.push_back((scratch.path() / state).string());
    command.emplace_back(BENCH_TRUE);
    return HostProcess(std::move(command), {std::string("COVE_LIBRARY=") + BENCH_LIBRARY});
  };
  const std::string scripts = BENCH_BINDINGS;
  HostProcess cpp = host({BENCH_WORKER}, "cpp");
  HostProcess node = host({"node", scripts + "/worker.mjs"}, "node");
  HostProcess other_node = host({"node", scripts + "/worker.mjs"}, "children");
  HostProcess python = host({"python3", scripts + "/worker.py"}, "python");
  const bench::Way blocking_exec = way_of("C++", cpp, "exec", kBurst);
  const bench::Way callback_exec = way_of(kCallback, cpp, "exec-callback", kBurst);

  auto measured =
      bench::measure("warm exec of a static program, from Node",
                     {way_of("Node", node, "exec", kBurst), callback_exec, blocking_exec},
                     {{.against = kCallback, .at_most = 1.15}, {.against = "C++"}}, 100, 5);
  bench::add(measured, bench::measure("warm exec of a static program, from Python's main thread",
                                      {way_of("Python", python, "exec", kBurst), blocking_exec},
                                      {{.against = "C++", .at_most = 1.15}}, 100, 5));
  bench::add(measured,
             bench::measure("warm exec of a static program, from another of Python's",
                            {way_of("Python", python, "exec", kBurst, kElsewhere), blocking_exec},
                            {{.against = "C++", .at_most = 1.15}}, 100, 5));
  auto reads = bench::measure(
      "read a file of 4 KiB",
      {way_of("Node", node, "read", kBurst), way_of("Python", python, "read", kBurst),
       way_of("Python elsewhere", python, "read", kBurst, kElsewhere),
       way_of(kCallback, cpp, "read-callback", kBurst), way_of("C++", cpp, "read", kBurst)},
      {}, 200, 5);
  require_added(reads, "Node", kCallback, 60);
  require_added(reads, "Python", "C++", 60);
  require_added(reads, "Python elsewhere", "C++", 60);
  bench::add(measured, reads);
  bench::add(measured, bench::measure("200 commands at once from one Node process",
                                      {way_of("cove", node, "exec-200", 1),
                                       way_of("child_process", other_node, "spawn-200", 1)},
                                      {{.against = "child_process", .at_most = 1.5}}, 20, 2));
  bench::add(measured, compare_memory(node, other_node));
  return bench::exit_status(measured, argc, argv);
}

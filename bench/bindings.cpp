// Claims: an exec of a static program through Node or Python costs at most 1.15x of the same in
// C++, a read of 4 KiB at most 60 us more; 200 commands at once from one Node process take at
// most 1.5x the time of 200 child processes of the same, and less memory in the host.
//
// The same in C++ is the form that the binding's call is made of: with a callback from Node and
// from Python's main thread, which has to hear of Ctrl-C; blocking from Python's other threads.
#include <cstdio>
#include <filesystem>
#include <future>
#include <span>
#include <string>

#include <cove/cove.hpp>

#include "host_process.hpp"
#include "measure.hpp"
#include "scratch.hpp"
#include "warm.hpp"

namespace {

using bench::HostProcess;

bench::Way way_of(const std::string& name, HostProcess& host, const std::string& call) {
  return {name, [&host, call] { return host.ask(call); }};
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
  if (!host.ask("peak") || !host.ask(call)) return 0;
  return host.ask("peak").value_or(0);
}

bench::Measured compare_memory(HostProcess& ours, HostProcess& theirs) {
  bench::Measured measured;
  const double cove = peak_of(ours, "exec 200");
  const double children = peak_of(theirs, "spawn 200");
  measured.ran = cove > 0 && children > 0;
  measured.holds = measured.ran && cove < children;
  std::printf(
      "  %-4s %.1f MiB in the host with 200 commands, %.1f MiB with 200 children (goal: less)\n",
      measured.holds ? "ok" : "MISS", cove / 1024, children / 1024);
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  bench::WarmWorkspace warm;
  bench::ScratchDirectory scratch;
  const auto host = [&](const std::string& program, const std::string& script,
                        const std::string& state) {
    return HostProcess({program, std::string(BENCH_BINDINGS) + "/" + script,
                        (scratch.path() / state).string(), BENCH_TRUE},
                       {std::string("COVE_LIBRARY=") + BENCH_LIBRARY});
  };
  HostProcess node = host("node", "worker.mjs", "node");
  HostProcess other_node = host("node", "worker.mjs", "children");
  HostProcess python = host("python3", "worker.py", "python");
  const cove::SandboxClient client = warm.client();
  const cove::ExecSpec spec{.argv = {warm.put(BENCH_TRUE, "true")}};
  const std::string page(4096, 'x');
  client.write_file("page", std::as_bytes(std::span(page))).value();
  const auto exec = [&] { return client.exec(spec).has_value(); };
  const auto read = [&] { return client.read_file("page").has_value(); };
  const auto exec_back = [&] {
    std::promise<bool> done;
    client.exec_async(spec,
                      {.on_output = {}, .on_done = [&](cove::Result<cove::ExecResult> result) {
                         done.set_value(result.has_value());
                       }});
    return done.get_future().get();
  };
  const auto read_back = [&] {
    std::promise<bool> done;
    client.read_file_async("page", {}, {}, [&](cove::Result<cove::Bytes> bytes) {
      done.set_value(bytes.has_value());
    });
    return done.get_future().get();
  };
  const bench::Way blocking_exec{"C++", bench::timed(exec)};
  const bench::Way callback_exec{kCallback, bench::timed(exec_back)};

  auto measured =
      bench::measure("warm exec of a static program, from Node",
                     {way_of("Node", node, "exec"), callback_exec, blocking_exec},
                     {{.against = kCallback, .at_most = 1.15}, {.against = "C++"}}, 400, 20);
  bench::add(measured, bench::measure(
                           "warm exec of a static program, from Python's main thread",
                           {way_of("Python", python, "exec"), callback_exec, blocking_exec},
                           {{.against = kCallback, .at_most = 1.15}, {.against = "C++"}}, 400, 20));
  bench::add(measured, bench::measure("warm exec of a static program, from another of Python's",
                                      {way_of("Python", python, "exec elsewhere"), blocking_exec},
                                      {{.against = "C++", .at_most = 1.15}}, 400, 20));
  auto reads = bench::measure("read a file of 4 KiB",
                              {way_of("Node", node, "read"),
                               way_of("Python", python, "read"),
                               way_of("Python elsewhere", python, "read elsewhere"),
                               {kCallback, bench::timed(read_back)},
                               {"C++", bench::timed(read)}},
                              {}, 1000, 50);
  require_added(reads, "Node", kCallback, 60);
  require_added(reads, "Python", kCallback, 60);
  require_added(reads, "Python elsewhere", "C++", 60);
  bench::add(measured, reads);
  bench::add(measured, bench::measure("200 commands at once from one Node process",
                                      {way_of("cove", node, "exec 200"),
                                       way_of("child_process", other_node, "spawn 200")},
                                      {{.against = "child_process", .at_most = 1.5}}, 20, 2));
  bench::add(measured, compare_memory(node, other_node));
  return bench::exit_status(measured, argc, argv);
}

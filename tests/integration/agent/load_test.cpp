#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/guest_streams.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

struct Tally {
  std::atomic<int> succeeded{0};
  std::atomic<int> done{0};
};

Task<void> run_one(std::shared_ptr<Guest> guest, int number, std::shared_ptr<Tally> tally) {
  ExecSpec spec;
  spec.argv = {"sh", "-c", "echo " + std::to_string(number) + "; exit 0"};
  const CallContext call;
  const std::string session;
  const Result<ExecResult> result = co_await guest->run(session, spec, call);
  if (result && result->succeeded() && result->out.head == std::to_string(number) + "\n") {
    ++tally->succeeded;
  }
  ++tally->done;
}

void wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000 && !holds(); ++i) ::usleep(10'000);
  REQUIRE(holds());
}

/// Child processes of `parent` that ended and were not reaped, or that live.
int children_of(pid_t parent) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    std::string text;
    if (!std::getline(stat, text)) continue;
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    if (std::stoi(text.substr(name_end + 4)) == parent) ++count;
  }
  return count;
}

struct Figures {
  long descriptors = 0;
  long threads = 0;
  long memory = 0;  ///< KiB that are resident
};

Figures figures_of(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  Figures figures;
  figures.descriptors = std::distance(std::filesystem::directory_iterator(proc + "/fd"), {});
  std::ifstream status(proc + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("Threads:")) figures.threads = std::stol(line.substr(8));
    if (line.starts_with("VmRSS:")) figures.memory = std::stol(line.substr(6));
  }
  return figures;
}

}  // namespace

TEST_CASE("Agent: 200 commands at once on one connection all end well",
          "[integration][agent][threads]") {
  AgentFixture f;
  const auto tally = std::make_shared<Tally>();
  for (int i = 0; i < 200; ++i) base::spawn(f.loop, run_one(f.guest, i, tally));
  wait_until([&] { return tally->done == 200; });
  CHECK(tally->succeeded == 200);
  wait_until([&] { return children_of(f.agent.pid()) == 0; });
}

TEST_CASE("Agent: one that nobody reads does not hold 50 others up", "[integration][agent]") {
  AgentFixture f;
  std::vector<std::shared_ptr<GuestProcess>> stuck;
  for (int i = 0; i < 4; ++i) {
    const ExecSpec spec{.argv = {"yes"}};
    stuck.push_back(f.wait(f.guest->start("", spec, false, {})).value());
  }
  const auto tally = std::make_shared<Tally>();
  for (int i = 0; i < 50; ++i) base::spawn(f.loop, run_one(f.guest, i, tally));
  wait_until([&] { return tally->done == 50; });
  CHECK(tally->succeeded == 50);
  stuck.clear();
  wait_until([&] { return children_of(f.agent.pid()) == 0; });
}

TEST_CASE("Agent: a fork bomb is ended by its timeout, and the next command works",
          "[integration][agent]") {
  AgentFixture f;
  const ExecSpec spec{
      .argv = {"sh", "-c",
               "b() { n=$1; while [ $n -gt 0 ]; do n=$((n-1)); b $n & done; sleep 100; }; b 7"},
      .timeout = 500ms,
      .kill_grace = 0ms};
  const auto result = f.run(spec);
  REQUIRE(result);
  CHECK(std::holds_alternative<TimedOut>(result->outcome));
  CHECK(children_of(f.agent.pid()) == 0);
  CHECK(f.shell("echo fine").value().out.head == "fine\n");
}

TEST_CASE("Agent: the cancel of one of many leaves the others alone", "[integration][agent]") {
  AgentFixture f;
  const ExecSpec cat{.argv = {"cat"}};
  std::vector<std::shared_ptr<GuestProcess>> all;
  for (int i = 0; i < 20; ++i) all.push_back(f.wait(f.guest->start("", cat, true, {})).value());
  f.wait(all[7]->cancel({})).value();
  CHECK(std::holds_alternative<Cancelled>(f.wait(all[7]->wait({})).value().outcome));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 7) continue;
    test::type(f, all[i], "still here\n");
    f.wait(all[i]->close_stdin({})).value();
    const auto result = f.wait(all[i]->wait({})).value();
    CHECK(result.succeeded());
    CHECK(result.out.head == "still here\n");
  }
}

TEST_CASE("Agent: output without end ends at its limit, in bounded memory",
          "[integration][agent][slow]") {
  AgentFixture f;
  f.shell("true").value();
  const Figures before = figures_of(f.agent.pid());
  ExecSpec spec;
  spec.shell_line = "while :; do head -c 10000000000 /dev/zero; done";
  spec.output.max_total_bytes = 10'000'000'000;
  spec.kill_grace = 0ms;
  const auto result = f.run(spec).value();
  CHECK(std::holds_alternative<OutputLimitReached>(result.outcome));
  CHECK(result.out.total_bytes > 10'000'000'000);
  CHECK(result.out.total_bytes < 10'100'000'000);
  CHECK(result.out.head.size() == 50 * 1024);
  CHECK(result.out.tail.size() == 50 * 1024);
  CHECK(figures_of(f.agent.pid()).memory - before.memory < 8 * 1024);
}

TEST_CASE("Agent: a line of 100 MB is cut like any other output", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec;
  spec.shell_line = "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last";
  spec.output.head_lines = spec.output.tail_lines = 2;
  const auto result = f.run(spec).value();
  CHECK(result.succeeded());
  CHECK(result.out.total_bytes == 100'000'006);
  CHECK(result.out.head == std::string(50 * 1024, 'x'));
  CHECK(result.out.tail.ends_with("x\nlast\n"));
}

TEST_CASE("Agent: a command that uses up its descriptors fails by itself", "[integration][agent]") {
  AgentFixture f;
  ExecSpec spec;
  spec.shell_line = "python3 -c 'import os\nl=[]\nwhile True: l.append(os.open(\"/\", 0))'";
  const auto result = f.run(spec).value();
  CHECK_FALSE(result.succeeded());
  CHECK(result.err.text().find("Too many open files") != std::string::npos);
  CHECK(f.shell("echo fine").value().out.head == "fine\n");
}

TEST_CASE("Agent: a full disk is told by the command, and spills nothing half",
          "[integration][agent]") {
  AgentFixture f;
  if (f.shell("test -w /dev/full")->succeeded()) {
    const auto result = f.shell("head -c 9 /dev/zero > /dev/full").value();
    CHECK_FALSE(result.succeeded());
    CHECK(result.err.text().find("No space left") != std::string::npos);
  }
  // Where a file could not be made at all the output is kept as it would be without it.
  f.shell("mkdir -p " + f.agent.home() + "/.cove && echo x > " + f.agent.home() + "/.cove/spill")
      .value();
  ExecSpec spec;
  spec.shell_line = "seq 1 100000";
  spec.output.spill = true;
  const auto result = f.run(spec).value();
  CHECK(result.succeeded());
  CHECK(result.out.spill_path.empty());
  CHECK(result.out.tail.ends_with("100000\n"));
}

TEST_CASE("Agent: 10,000 commands leave nothing in the agent and nothing in the host [pain-54]",
          "[integration][agent][slow][pain-54]") {
  AgentFixture f;
  const ExecSpec spec{.argv = {"/bin/true"}};
  const auto run_many = [&](int count) {
    for (int i = 0; i < count; ++i) REQUIRE(f.run(spec).value().succeeded());
    wait_until([&] { return children_of(f.agent.pid()) == 0; });
  };
  run_many(1000);
  const Figures agent_before = figures_of(f.agent.pid());
  const Figures host_before = figures_of(::getpid());
  run_many(9000);
  const auto within = [](const Figures& now, const Figures& before) {
    CHECK(now.descriptors == before.descriptors);
    CHECK(now.threads == before.threads);
    CHECK(now.memory <= before.memory + before.memory / 50 + 64);
  };
  within(figures_of(f.agent.pid()), agent_before);
  within(figures_of(::getpid()), host_before);
}

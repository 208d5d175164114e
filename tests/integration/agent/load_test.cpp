#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/fixtures/agent_fixture.hpp"

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

TEST_CASE("Agent: 10,000 commands leave no process and no descriptor",
          "[integration][agent][slow][pain-54]") {
  AgentFixture f;
  const ExecSpec spec{.argv = {"/bin/true"}};
  for (int i = 0; i < 1000; ++i) REQUIRE(f.run(spec).value().succeeded());
  wait_until([&] { return children_of(f.agent.pid()) == 0; });
  const std::size_t before = f.agent.open_descriptors();
  for (int i = 0; i < 9000; ++i) REQUIRE(f.run(spec).value().succeeded());
  wait_until([&] { return children_of(f.agent.pid()) == 0; });
  CHECK(f.agent.open_descriptors() == before);
}

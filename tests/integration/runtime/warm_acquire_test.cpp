// What an acquire costs where everything that a host asks for is there already.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/system/system_clock.hpp"
#include "metadata/memory/memory_store.hpp"
#include "support/fakes/counting_store.hpp"
#include "support/fakes/fake_cove.hpp"
#include "support/fixtures/live_cove.hpp"
#include "support/trees/packed_package.hpp"

using namespace cove;
using namespace cove::testing;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

/// Ten skills, mirrors of every kind that HOME has, an init script.
AcquireOptions much() {
  AcquireOptions options;
  options.chat_id = "c1";
  options.prepare.mirrors = {.npm = "http://npm.test/",
                             .pypi = "http://pypi.test/simple",
                             .go = "http://go.test",
                             .rubygems = "http://gems.test/"};
  options.prepare.init = InitScript{.text = "echo ready", .version = "1", .cwd = {}};
  for (int i = 0; i < 10; ++i) {
    SkillPackage skill;
    skill.version_id = "skill-" + std::to_string(i);
    skill.content = test::pack_skill("skill-" + std::to_string(i));
    options.prepare.skills.push_back(std::move(skill));
  }
  return options;
}

}  // namespace

TEST_CASE("Cove: a warm acquire with ten skills, mirrors and a script asks the guest once",
          "[integration][runtime][prepare]") {
  // A real sandbox does all of it; what it says of that, a guest that counts says too.
  std::string state;
  {
    const LiveCove live;
    const Cove cove = live.open();
    const Workspace workspace = cove.acquire(kAna, much()).value();
    const PrepareReport report = workspace.prepare_report();
    CHECK(report.path == PreparePath::kRun);
    CHECK_FALSE(report.failed());
    CHECK(report.steps.size() >= 5);
    state = shell(workspace.client(), "cat ~/.cove/state.json");
    const auto elsewhere = live.open();
    CHECK(elsewhere.acquire(kAna, much()).value().prepare_report().path == PreparePath::kUnchanged);
  }
  const base::SystemClock clock;
  const auto store = std::make_shared<CountingStore>(metadata::make_memory_store(clock));
  FakeCove fake;
  auto cove = fake.open(fake.config(), {.metadata = store});
  // Held on to: what lets go of it would write when it likes.
  const Workspace first = cove.acquire(kAna).value();
  fake.provider->only_guest()->files["~/.cove/state.json"] = state;
  auto elsewhere = fake.open(fake.config(), {.metadata = store});
  const std::size_t asked = fake.provider->guest_calls().size();
  store->writes = 0;
  const Workspace workspace = elsewhere.acquire(kAna, much()).value();
  CHECK(workspace.prepare_report().path == PreparePath::kUnchanged);
  const std::vector<std::string> calls = fake.provider->guest_calls();
  CHECK(std::vector<std::string>(calls.begin() + static_cast<std::ptrdiff_t>(asked), calls.end()) ==
        std::vector<std::string>{"read_file"});
  CHECK(store->writes <= 1);
  // And not at all where this process has done it before.
  CHECK(elsewhere.acquire(kAna, much()).value().prepare_report().path == PreparePath::kRemembered);
  CHECK(fake.provider->guest_calls().size() == calls.size());
}

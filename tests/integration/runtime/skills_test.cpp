// Skills and mirrors through a whole Cove with real sandboxes.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include <cove/grants/host_network.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/mirror_server.hpp"
#include "support/skip.hpp"
#include "support/trees/packed_package.hpp"

using namespace cove;
using namespace std::chrono_literals;
using cove::test::pack_skill;
using cove::test::skill_text;
using cove::testing::LiveCove;
using cove::testing::MirrorServer;
using cove::testing::output_of;
using cove::testing::shell;
namespace fs = std::filesystem;

namespace {

const WorkspaceKey kKey{"app", "skills", "ana"};

StepOutcome outcome_of(const Workspace& workspace, const std::string& step) {
  for (const StepReport& report : workspace.prepare_report().steps) {
    if (report.step.starts_with(step)) return report.outcome;
  }
  FAIL("no step " << step);
  return StepOutcome::kFailed;
}

/// One of the user's in its version "v1", one builtin.
AcquireOptions with_two_skills() {
  AcquireOptions options;
  SkillPackage skill;
  skill.version_id = "v1";
  skill.content = pack_skill("one");
  options.prepare.skills = {skill};
  options.prepare.builtin_skills = {{"two", pack_skill("two")}};
  return options;
}

Workspace acquire_with(const Cove& cove, const std::string& chat, const std::string& version) {
  AcquireOptions options;
  options.chat_id = chat;
  SkillPackage skill;
  skill.version_id = version;
  skill.content = pack_skill(version);
  options.prepare.skills = {skill};
  return cove.acquire(kKey, options).value();
}

/// The file is a hint that can be written from inside: nobody has used these for years.
void forget_uses(const Workspace& workspace, const std::string& used) {
  shell(workspace.client(), "echo '{\"used\":{" + used + "}}' > /workspace/skills/.cove-used.json");
}

}  // namespace

TEST_CASE("Cove: skills are added, placed, indexed and read", "[integration][runtime][skills]") {
  LiveCove live;
  const Cove cove = live.open();
  REQUIRE(cove.add_skill("pdf-1", pack_skill("pdf", "reads <PDF>")));
  CHECK(cove.list_skills().value().at(0).skills.at(0).name == "pdf");

  fs::create_directories(live.state_directory() + "-charts");
  std::ofstream(live.state_directory() + "-charts/SKILL.md") << skill_text("charts", "draws");
  AcquireOptions options;
  options.chat_id = "c1";
  options.prepare.skills.push_back(cove.find_skill("pdf-1").value());
  options.prepare.builtin_skills.push_back(
      {"charts", HostPath{live.state_directory() + "-charts"}});
  const Workspace workspace = cove.acquire(kKey, options).value();
  CHECK(outcome_of(workspace, "skills") == StepOutcome::kApplied);

  const SkillIndex index = workspace.skills().value();
  CHECK(index.problems.empty());
  REQUIRE(index.skills.size() == 2);
  CHECK(index.skills[0].location == "/workspace/skills/pdf-1/SKILL.md");
  CHECK(index.skills[1].location == "/home/sandbox/.cove/builtin/charts/SKILL.md");
  for (const SkillInfo& skill : index.skills) {
    const Bytes text = workspace.client().read_file(skill.location).value();
    CHECK(text.size() == skill_text(skill.name, skill.description).size());
  }
  CHECK_THAT(index.prompt(), Catch::Contains("reads &lt;PDF&gt;"));
  CHECK(shell(workspace.client(), "/workspace/skills/pdf-1/scripts/run.sh") == "pdf");
  CHECK(workspace.client()
            .write_file("/home/sandbox/.cove/builtin/charts/SKILL.md", {})
            .error()
            .code() == ErrorCode::kPermissionDenied);

  // A second chat finds all of it done, and another skill of its own changes nothing of that.
  AcquireOptions other = options;
  other.chat_id = "c2";
  CHECK(outcome_of(cove.acquire(kKey, other).value(), "skills") == StepOutcome::kSkipped);
  SkillPackage second;
  second.version_id = "x-1";
  second.content = pack_skill("x");
  other.prepare.skills = {second};
  const Workspace both = cove.acquire(kKey, other).value();
  CHECK(both.skills().value().skills.at(0).name == "x");
  CHECK(cove.acquire(kKey, options).value().prepare_report().path == PreparePath::kRemembered);
}

TEST_CASE("Cove: skills that were changed inside are a problem once, and placed again",
          "[integration][runtime][skills]") {
  LiveCove live;
  const AcquireOptions options = with_two_skills();
  {
    const Cove cove = live.open();
    const Workspace workspace = cove.acquire(kKey, options).value();
    shell(workspace.client(), "echo more >> /workspace/skills/v1/SKILL.md");
    shell(workspace.client(), "rm -r ~/.cove/builtin/two");
  }
  // Another process, as this one remembers what it compared on this instance.
  const auto look = [&] {
    const Cove cove = live.open();
    const Workspace workspace = cove.acquire(kKey, options).value();
    return std::pair(workspace.prepare_report(), workspace.skills().value());
  };
  const auto [before, spoilt] = look();
  CHECK(before.path == PreparePath::kUnchanged);
  CHECK(spoilt.problems.size() == 2);
  const auto [after, mended] = look();
  CHECK(after.path == PreparePath::kRun);
  CHECK(mended.problems.empty());
  CHECK(mended.skills.size() == 2);
  const auto [last, same] = look();
  CHECK(last.path == PreparePath::kUnchanged);
  CHECK(same.problems.empty());
}

TEST_CASE("Cove: skills come back with a wake, builtin ones are made again",
          "[integration][runtime][skills]") {
  LiveCove live;
  const AcquireOptions options = with_two_skills();
  {
    const Cove cove = live.open();
    const Workspace workspace = cove.acquire(kKey, options).value();
    shell(workspace.client(), "echo kept > /workspace/skills/v1/__note");
    REQUIRE(workspace.client().exec({.argv = {"true"}}));
    Workspace last = workspace;
    REQUIRE(last.release());
    REQUIRE(cove.stop(workspace.sandbox_id(), StopDrain::kCancel));
    REQUIRE(cove.archive(workspace.sandbox_id()));
  }
  const Cove cove = live.open();
  const Workspace workspace = cove.acquire(kKey, options).value();
  CHECK(workspace.work() == AcquireWork::kRestored);
  CHECK(shell(workspace.client(), "cat /workspace/skills/v1/__note") == "kept");
  const SkillIndex index = workspace.skills().value();
  CHECK(index.problems.empty());
  CHECK(index.skills.size() == 2);
}

TEST_CASE("Cove: a version of a skill that a live workspace holds is not collected",
          "[integration][runtime][skills]") {
  LiveCove live;
  const Cove cove = live.open();
  Workspace held = acquire_with(cove, "c1", "held");
  Workspace old = acquire_with(cove, "c2", "old");
  forget_uses(old, R"("held":1000,"old":1000)");
  REQUIRE(old.release());
  Workspace next = acquire_with(cove, "c3", "next");
  CHECK(shell(next.client(), "ls /workspace/skills") == "held\nnext");
  CHECK(shell(held.client(), "/workspace/skills/held/scripts/run.sh") == "held");

  forget_uses(next, R"("held":1000,"next":1000)");
  REQUIRE(held.release());
  const Workspace last = acquire_with(cove, "c4", "last");
  CHECK(shell(last.client(), "ls /workspace/skills") == "last\nnext");
}

TEST_CASE("Cove: nor is one that another process holds", "[integration][runtime][skills]") {
  LiveCove live;
  const Cove ours = live.open();
  const Cove theirs = live.open();  // an owner of its own, as another process is
  Workspace held = acquire_with(theirs, "c1", "held");
  const Workspace next = acquire_with(ours, "c2", "next");
  forget_uses(next, R"("held":1000,"next":1000)");
  const Workspace more = acquire_with(ours, "c3", "more");
  CHECK(shell(more.client(), "ls /workspace/skills") == "held\nmore\nnext");
  CHECK(shell(held.client(), "/workspace/skills/held/scripts/run.sh") == "held");

  REQUIRE(held.release());
  const Workspace last = acquire_with(ours, "c4", "last");
  CHECK(shell(last.client(), "ls /workspace/skills") == "last\nmore\nnext");
}

TEST_CASE("Cove: a wrong skill fails the acquire, and says where",
          "[integration][runtime][skills]") {
  LiveCove live;
  const Cove cove = live.open();
  AcquireOptions options;
  SkillPackage skill;
  skill.version_id = "bad";
  skill.content = test::pack(test::Packing::kTar, {{"SKILL.md", "---\nname: x\n---\n"}});
  options.prepare.skills = {skill};
  const auto refused = cove.acquire(kKey, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(refused.error().describe(), Catch::Contains("SKILL.md of skill 'bad':1:"));
}

TEST_CASE("Cove: mirrors are set in the sandbox and go when nobody asks for them",
          "[integration][runtime][mirrors]") {
  LiveCove live;
  MirrorServer server;
  Config config = live.config();
  config.policy.allow(grants::HostNetwork{});
  const Cove cove = live.open(config);
  AcquireOptions plain;
  AcquireOptions options;
  options.prepare.mirrors.npm = server.url("/npm/");
  options.prepare.mirrors.pypi = server.url("/simple");
  options.prepare.mirrors.go = server.url("/go");
  {
    const Workspace before = cove.acquire(kKey, plain).value();
    shell(before.client(), "echo fund=false > ~/.npmrc");
  }
  {
    const Workspace workspace = cove.acquire(kKey, options).value();
    CHECK(outcome_of(workspace, "mirrors") == StepOutcome::kApplied);
    CHECK(shell(workspace.client(), "cat ~/.npmrc") ==
          "fund=false\nregistry=" + options.prepare.mirrors.npm);
    if (workspace.client().exec({.shell_line = "command -v npm"}).value().succeeded()) {
      shell(workspace.client(), "mkdir -p p && cd p && npm install --no-audit cove-demo");
      CHECK_THAT(server.requests(), Catch::Contains("/npm/cove-demo"));
    } else {
      cove::test::skip_part("no npm");
    }
    if (workspace.client().exec({.shell_line = "python3 -m pip --version"}).value().succeeded()) {
      shell(workspace.client(), "python3 -m pip install --target t cove-demo");
      CHECK_THAT(server.requests(), Catch::Contains("/simple/cove-demo/"));
    } else {
      cove::test::skip_part("no pip");
    }
    CHECK(cove.acquire(kKey, options).value().prepare_report().path == PreparePath::kRemembered);
  }
  {
    const Workspace after = cove.acquire(kKey, plain).value();
    CHECK(shell(after.client(), "cat ~/.npmrc") == "fund=false");
    CHECK(shell(after.client(), "ls ~/.config/pip 2>/dev/null | wc -l") == "0");
  }
  const Workspace again = cove.acquire(kKey, options).value();
  CHECK_THAT(shell(again.client(), "cat ~/.npmrc"), Catch::Contains("registry="));
}

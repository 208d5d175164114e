#include <catch2/catch.hpp>

#include "base/async/worker_pool.hpp"
#include "prepare/steps/init_scripts.hpp"
#include "prepare/steps/plan.hpp"
#include "support/fixtures/prepare_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

namespace {

ExecResult result_of(Outcome outcome, std::string output = {}) {
  ExecResult result;
  result.outcome = std::move(outcome);
  result.out.tail = std::move(output);
  return result;
}

/// A sandbox whose commands are noted.
struct Shell : PrepareFixture {
  base::InlineExecutor executor;
  std::vector<ExecSpec> ran;
  Outcome outcome = Exited{0};
  std::string output;
  bool has_bash = true;

  Shell() {
    guest.on_run = [this](const std::string& /*session*/,
                          const ExecSpec& spec) -> Result<ExecResult> {
      if (spec.argv[0] == "bash" && !has_bash) {
        return Error(ErrorCode::kNotFound, "no program 'bash'");
      }
      ran.push_back(spec);
      return result_of(outcome, output);
    };
  }

  std::shared_ptr<const prepare::Preparation> plan(InitScript script) {
    PrepareInputs inputs;
    inputs.init = std::move(script);
    inputs.environment.variables = {{"MODE", "test"}};
    inputs.environment.secrets = {{"TOKEN", "s3cr3t"}};
    const prepare::HostParts host{executor, scheduler};
    return prepare::make_preparation(std::move(inputs), "", host).value();
  }
};

InitScript script(std::string text, std::string version = {}) {
  return {.text = std::move(text), .version = std::move(version), .cwd = "app", .timeout = 7s};
}

}  // namespace

TEST_CASE("InitScript: is run by bash, where it says, with the acquire's environment",
          "[unit][prepare]") {
  Shell shell;
  const auto outcome = shell.prepare(*shell.plan(script("echo hi")));
  CHECK(summary(outcome.report) == "app_init applied");
  REQUIRE(shell.ran.size() == 1);
  CHECK(shell.ran[0].argv == std::vector<std::string>{"bash", "-c", "echo hi", "init"});
  CHECK(shell.ran[0].cwd == "app");
  CHECK(shell.ran[0].timeout == 7s);
  CHECK(shell.ran[0].env.at("TOKEN") == "s3cr3t");
  CHECK(shell.ran[0].env.at("MODE") == "test");
  CHECK(shell.ran[0].merge_output);
  CHECK(shell.ran[0].output.tail_bytes == 8192 + 6);
}

TEST_CASE("InitScript: is run by sh where there is no bash, and the report says so",
          "[unit][prepare]") {
  Shell shell;
  shell.has_bash = false;
  const auto outcome = shell.prepare(*shell.plan(script("echo hi")));
  CHECK(outcome.report.steps[0].reason == "run by sh, since the image has no bash");
  CHECK(shell.ran.at(0).argv[0] == "sh");
}

TEST_CASE("InitScript: is run again when text or version change, or HOME is another one",
          "[unit][prepare]") {
  Shell shell;
  const auto run = [&shell](const InitScript& which) {
    REQUIRE(shell.elsewhere(*shell.plan(which)).done);
    return shell.ran.size();
  };
  CHECK(run(script("a")) == 1);
  CHECK(run(script("a")) == 1);
  CHECK(run(script("b")) == 2);
  CHECK(run(script("b", "2")) == 3);
  CHECK(run(script("b", "2")) == 3);
  shell.guest.files.clear();
  shell.instance.volume.generation = Generation("g2");
  CHECK(run(script("b", "2")) == 4);
}

TEST_CASE("InitScript: its failure does not block the agent, and tells how it ended",
          "[unit][prepare]") {
  const std::vector<std::pair<Outcome, std::string>> endings{
      {Exited{3}, "the script ended with exit code 3"},
      {Signaled{9}, "the script was ended by signal 9"},
      {TimedOut{}, "the script took longer than its 7000 ms"},
      {OutOfMemory{}, "the script ran out of memory"}};
  for (const auto& [outcome, reason] : endings) {
    Shell shell;
    shell.outcome = outcome;
    shell.output = std::string(10'000, '.') + "the end with s3cr3t";
    const auto run = shell.prepare(*shell.plan(script("false")));
    REQUIRE(run.done);
    const StepReport& report = run.report.steps.at(0);
    CHECK(report.outcome == StepOutcome::kFailed);
    CHECK(report.reason == reason);
    CHECK(report.output.size() == 8192);
    CHECK(report.output.ends_with("the end with ***"));
    CHECK(report.retry_after == 30s);
  }
}

TEST_CASE("InitScript: of a skill is its entrypoint.sh, where it has one", "[unit][prepare]") {
  Shell shell;
  const auto steps = preparation_of({prepare::skill_init_step("v1", "skills/v1", 30s, 0),
                                     prepare::skill_init_step("v2", "skills/v2", 30s, 0)});
  shell.guest.files["/skills/v1/entrypoint.sh"] = "echo skill";
  const auto outcome = shell.prepare(steps);
  CHECK(summary(outcome.report) == "skill_init/v1 applied, skill_init/v2 skipped");
  CHECK(outcome.report.steps[1].reason == "it has no entrypoint.sh");
  REQUIRE(shell.ran.size() == 1);
  CHECK(shell.ran[0].argv == std::vector<std::string>{"bash", "entrypoint.sh"});
  CHECK(shell.ran[0].cwd == "skills/v1");
  CHECK(shell.elsewhere(steps).report.path == PreparePath::kUnchanged);
}

TEST_CASE("Plan: the order is fixed, and a host's steps stand behind the stage they name",
          "[unit][prepare]") {
  Shell shell;
  PrepareInputs inputs;
  int count = 0;
  for (const auto& [name, after] :
       {std::pair("late", PrepareStage::kCapabilities),
        std::pair("first", PrepareStage::kDirectories), std::pair("mid", PrepareStage::kAppInit),
        std::pair("mid2", PrepareStage::kAppInit)}) {
    inputs.steps.push_back(counting_step(name, "1", count));
    inputs.steps.back().after = after;
  }
  inputs.init = script("true");
  inputs.files = {{.name = "f", .content = bytes_of("1"), .fingerprint = {}}};
  const prepare::HostParts host{shell.executor, shell.scheduler};
  const auto plan = prepare::make_preparation(std::move(inputs), "sessions/c1", host).value();
  std::string order;
  for (const PrepareStep& step : plan->steps) order += step.name + " ";
  CHECK(order ==
        "directories/sessions/c1 host/first mirrors input_files/sessions/c1 app_init host/mid "
        "host/mid2 host/late ");
}

TEST_CASE("Plan: skills without a place to read them from are refused", "[unit][prepare]") {
  Shell shell;
  PrepareInputs inputs;
  inputs.skills = {{.version_id = "v1", .content = Bytes(), .sha256 = {}}};
  const prepare::HostParts host{shell.executor, shell.scheduler};
  CHECK(prepare::make_preparation(inputs, "", host).error().code() == ErrorCode::kUnsupported);
}

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "base/text/prepare_json.hpp"
#include "cli/commands/command.hpp"
#include "cli/machine/local_file.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kMaxScript = 96 * 1024;

Result<PrepareInputs> inputs_of(const Invocation& invocation) {
  const PrepareChoice& choice = invocation.request.prepare;
  PrepareInputs inputs;
  inputs.environment.variables = invocation.request.env;
  inputs.environment.time_zone = choice.time_zone;
  inputs.environment.locale = choice.locale;
  for (const std::string& path : choice.inputs) {
    InputFile file;
    file.name = last_name(path);
    file.content = HostPath{path};
    inputs.files.push_back(std::move(file));
  }
  for (const std::string& version_id : choice.skills) {
    COVE_TRY(SkillPackage skill, invocation.cove.find_skill(version_id, invocation.call));
    inputs.skills.push_back(std::move(skill));
  }
  if (choice.init_file.empty()) return inputs;
  COVE_TRY(const base::UniqueFd fd, open_local(choice.init_file));
  InitScript script;
  COVE_TRY(script.text, read_all(*fd, choice.init_file, kMaxScript, invocation.call));
  script.version = choice.init_version;
  inputs.init = std::move(script);
  return inputs;
}

/// Also what failed before and waits for its next try: the workspace is without it now.
bool lacks_something(const PrepareReport& report) {
  return std::any_of(report.steps.begin(), report.steps.end(), [](const StepReport& step) {
    return step.outcome == StepOutcome::kFailed || step.retry_after.has_value();
  });
}

}  // namespace

Result<int> run_prepare(const Invocation& invocation) {
  COVE_TRY(PrepareInputs inputs, inputs_of(invocation));
  COVE_TRY(Workspace workspace, acquire_chosen(invocation, std::move(inputs)));
  const PrepareReport report = workspace.prepare_report();
  const Result<void> released = workspace.release();
  const Request& request = invocation.request;
  if (request.prepare.report && request.json) {
    COVE_TRY_VOID(invocation.output.out(base::dump_json(base::prepare_json(report)) + "\n"));
  } else if (request.prepare.report) {
    COVE_TRY_VOID(invocation.output.out(prepare_text(report)));
  }
  if (!released) invocation.output.report(released.error(), request.json);
  return lacks_something(report) ? 1 : 0;
}

}  // namespace cove::cli

#include "prepare/steps/plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "prepare/inputs/environment.hpp"
#include "prepare/steps/directories.hpp"
#include "prepare/steps/init_scripts.hpp"
#include "prepare/steps/input_files.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kQuickBytes = 256 * 1024;

Result<std::shared_ptr<const InputFiles>> make_files(std::vector<InputFile> files,
                                                     const std::string& session, HostParts host) {
  std::vector<InputContent> contents;
  contents.reserve(files.size());
  for (InputFile& file : files) {
    COVE_TRY(InputContent content, make_content(std::move(file)));
    contents.push_back(std::move(content));
  }
  const std::string directory = session.empty() ? "user_files" : session + "/user_files";
  return std::make_shared<const InputFiles>(std::move(contents), directory, host);
}

/// Cove's own of one stage stand before the host's; each in the order given.
void put_in_order(std::vector<PrepareStep>& steps) {
  std::stable_sort(steps.begin(), steps.end(),
                   [](const PrepareStep& a, const PrepareStep& b) { return a.after < b.after; });
}

void add_host_steps(std::vector<PrepareStep> given, std::vector<PrepareStep>& steps) {
  for (PrepareStep& step : given) {
    step.name = "host/" + step.name;
    steps.push_back(std::move(step));
  }
}

/// What this build has no steps for is refused, never passed over.
Result<void> check_supported(const PrepareInputs& inputs) {
  if (inputs.mirrors != Mirrors()) {
    return Error(ErrorCode::kUnsupported, "this build of Cove sets no package mirrors");
  }
  if (!inputs.skills.empty() || !inputs.builtin_skills.empty()) {
    return Error(ErrorCode::kUnsupported, "this build of Cove places no skills");
  }
  return ok();
}

}  // namespace

bool is_plain(const PrepareInputs& inputs) {
  return inputs.mirrors == Mirrors() && inputs.files.empty() && inputs.skills.empty() &&
         inputs.builtin_skills.empty() && !inputs.init && inputs.steps.empty();
}

bool is_quick(const PrepareInputs& inputs) {
  if (!inputs.skills.empty() || !inputs.builtin_skills.empty()) return false;
  std::size_t bytes = inputs.init ? inputs.init->text.size() : 0;
  for (const InputFile& file : inputs.files) {
    if (std::holds_alternative<HostPath>(file.content)) return false;
    const auto* held = std::get_if<Bytes>(&file.content);
    bytes += held == nullptr ? 0 : held->size();
  }
  return bytes <= kQuickBytes;
}

Result<std::shared_ptr<const Preparation>> make_preparation(PrepareInputs inputs,
                                                            const std::string& session,
                                                            HostParts host) {
  COVE_TRY_VOID(validate(inputs));
  COVE_TRY_VOID(check_supported(inputs));
  auto made = std::make_shared<Preparation>();
  made->session = session;
  made->env = environment_of(inputs.environment);
  made->redactor = Redactor(inputs.environment.secrets);
  made->observer = std::move(inputs.observer);
  if (is_plain(inputs)) return std::shared_ptr<const Preparation>(std::move(made));
  std::vector<PrepareStep>& steps = made->steps;
  if (!session.empty()) steps.push_back(directories_step(session));
  if (!inputs.files.empty()) {
    COVE_TRY(const auto files, make_files(std::move(inputs.files), session, host));
    steps.push_back(input_files_step(files, session));
    made->files_step = steps.back().name;
    made->placed_files = [files](const std::string& note) { return files->places(note); };
  }
  const std::size_t longest = made->redactor.longest();
  if (inputs.init) steps.push_back(app_init_step(*std::move(inputs.init), longest));
  if (inputs.skill_init_timeout.count() > 0) {
    for (const SkillPackage& skill : inputs.skills) {
      steps.push_back(skill_init_step(skill.version_id, "skills/" + skill.version_id,
                                      inputs.skill_init_timeout, longest));
    }
  }
  add_host_steps(std::move(inputs.steps), steps);
  put_in_order(steps);
  made->fingerprint = combined(steps);
  return std::shared_ptr<const Preparation>(std::move(made));
}

}  // namespace cove::prepare

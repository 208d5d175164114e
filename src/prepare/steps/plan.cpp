#include "prepare/steps/plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "prepare/inputs/environment.hpp"
#include "prepare/mirrors/step.hpp"
#include "prepare/skills/place/placement.hpp"
#include "prepare/steps/directories.hpp"
#include "prepare/steps/init_scripts.hpp"
#include "prepare/steps/input_files.hpp"
#include "prepare/steps/system_layer.hpp"

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

/// Cove's own of one stage stand before the host's; each in the order given. They are few, and
/// clang takes what std::stable_sort uses in GCC 12's library for deprecated.
void put_in_order(std::vector<PrepareStep>& steps) {
  const auto by_stage = [](const PrepareStep& a, const PrepareStep& b) {
    return a.after < b.after;
  };
  for (auto next = steps.begin(); next != steps.end(); ++next) {
    std::rotate(std::upper_bound(steps.begin(), next, *next, by_stage), next, std::next(next));
  }
}

void add_host_steps(std::vector<PrepareStep> given, std::vector<PrepareStep>& steps) {
  for (PrepareStep& step : given) {
    step.name = "host/" + step.name;
    steps.push_back(std::move(step));
  }
}

/// Without a shelf there is nothing to place them from; they are refused, never passed over.
Result<void> check_supported(const PrepareInputs& inputs, const SkillParts& skills) {
  if (skills.shelf || (inputs.skills.empty() && inputs.builtin_skills.empty())) return ok();
  return Error(ErrorCode::kUnsupported, "no skills can be placed here");
}

/// Of mirrors that are not asked for any more there may be something left to take back.
void add_mirrors(const Mirrors& mirrors, Preparation& made) {
  made.steps.push_back(mirrors_step(mirrors));
  made.taken_back.insert(made.steps.back().name);
  if (mirrors == Mirrors()) made.takes_back.insert(made.steps.back().name);
}

/// Only what is asked for, and, as with mirrors, builtin skills that may be left.
void add_skills(const SkillParts& skills, Preparation& made) {
  const SkillInputs& inputs = *skills.inputs;
  const std::size_t before = made.steps.size();
  if (!inputs.published.empty()) made.steps.push_back(skills_step(skills));
  made.steps.push_back(builtin_skills_step(skills));
  made.taken_back.insert(made.steps.back().name);
  if (inputs.builtin.empty()) made.takes_back.insert(made.steps.back().name);
  if (inputs.published.empty() && inputs.builtin.empty()) return;
  made.steps.push_back(capabilities_step(skills));
  for (std::size_t i = before; i < made.steps.size(); ++i) {
    made.skill_steps.push_back(made.steps[i].name);
  }
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
                                                            HostParts host, SkillParts skills) {
  COVE_TRY_VOID(validate(inputs));
  COVE_TRY_VOID(check_supported(inputs, skills));
  const bool plain = is_plain(inputs);
  auto made = std::make_shared<Preparation>();
  made->session = session;
  made->env = environment_of(inputs.environment);
  made->redactor = Redactor(inputs.environment.secrets);
  made->observer = std::move(inputs.observer);
  const std::size_t longest = made->redactor.longest();
  std::vector<PrepareStep>& steps = made->steps;
  made->makes_session = !plain && !session.empty();
  made->only_takes_back = plain && !host.writable_system;
  if (made->makes_session) steps.push_back(directories_step(session));
  if (host.writable_system) steps.push_back(system_layer_step());
  add_mirrors(inputs.mirrors, *made);
  if (!inputs.files.empty()) {
    COVE_TRY(const auto files, make_files(std::move(inputs.files), session, host));
    steps.push_back(input_files_step(files, session));
    made->files_step = steps.back().name;
    made->placed_files = [files](const std::string& note) { return files->places(note); };
  }
  if (inputs.init) steps.push_back(app_init_step(*std::move(inputs.init), longest));
  if (inputs.skill_init_timeout.count() > 0) {
    for (const SkillPackage& skill : inputs.skills) {
      steps.push_back(skill_init_step(skill.version_id, skill_directory(skill.version_id),
                                      inputs.skill_init_timeout, longest));
    }
  }
  made->skills = skills.inputs = std::make_shared<SkillInputs>(
      SkillInputs{std::move(inputs.skills), std::move(inputs.builtin_skills)});
  if (skills.shelf) add_skills(skills, *made);
  add_host_steps(std::move(inputs.steps), steps);
  put_in_order(steps);
  made->fingerprint = combined(steps);
  return std::shared_ptr<const Preparation>(std::move(made));
}

}  // namespace cove::prepare

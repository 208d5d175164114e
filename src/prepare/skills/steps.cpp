#include "prepare/skills/steps.hpp"

#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/display_text.hpp"
#include "base/text/hex.hpp"
#include "base/text/json.hpp"
#include "prepare/skills/index.hpp"
#include "prepare/skills/place/builtin_sync.hpp"
#include "prepare/skills/place/placement.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr auto kTimeout = 600s;  // a large package over a slow line

/// What names a package without reading it.
std::string mark_of(const SkillPackage& skill) {
  std::string mark = skill.version_id + "\n" + skill.sha256 + "\n";
  if (const auto* key = std::get_if<ObjectKey>(&skill.content)) mark += "object " + key->str();
  if (const auto* path = std::get_if<HostPath>(&skill.content)) mark += "path " + path->path;
  if (const auto* bytes = std::get_if<Bytes>(&skill.content)) {
    mark += "bytes " + std::to_string(bytes->size());
  }
  return mark + "\n";
}

std::string skills_fingerprint(const PrepareInputs& inputs) {
  base::Sha256 hash;
  for (const SkillPackage& skill : inputs.skills) hash.update(mark_of(skill));
  return hash.hex();
}

Task<Result<void>> apply_skills(SkillStepInputs step, PrepareContext& context) {
  if (step.inputs->skills.empty()) {
    context.nothing_to_do = true;
    context.reason = "no skills are asked for";
    co_return ok();
  }
  const PlacementRequest request{.shelf = *step.shelf,
                                 .guest = context.guest,
                                 .skills = step.inputs->skills,
                                 .instance = step.instance,
                                 .now = step.now,
                                 .grace = step.grace,
                                 .is_in_use = step.is_in_use,
                                 .tell = context.tell};
  COVE_CO_TRY(const PlacementReport report, co_await place_skills(request, context.call));
  context.reason = report.summary(step.inputs->skills.size());
  co_return ok();
}

/// The names that the step placed when it was last done; a hint.
std::set<std::string> names_in(const std::string& note) {
  std::set<std::string> names;
  const auto json = base::parse_json(note);
  if (!json || !json->is_array()) return names;
  for (const auto& name : *json) {
    const bool good = name.is_string() && is_skill_name(name.get_ref<const std::string&>());
    if (good) names.insert(name.get<std::string>());
  }
  return names;
}

std::string note_of(const std::vector<BuiltinSkill>& skills) {
  nlohmann::json names = nlohmann::json::array();
  for (const BuiltinSkill& skill : skills) names.push_back(skill.name);
  return base::dump_json(names);
}

Task<Result<void>> apply_builtin(SkillStepInputs step, PrepareContext& context) {
  std::set<std::string> gone = names_in(context.note);
  const std::vector<BuiltinSkill>& skills = step.inputs->builtin_skills;
  if (skills.empty() && gone.empty()) {
    context.nothing_to_do = true;
    context.reason = "no builtin skills are asked for";
    co_return ok();
  }
  BuiltinReport all;
  for (const BuiltinSkill& skill : skills) {
    gone.erase(skill.name);
    Result<BuiltinReport> done =
        co_await sync_builtin(*step.shelf, context.guest, skill, context.call);
    if (!done) co_return done.error().with_context("skill", skill.name);
    all.written += done->written;
    all.removed += done->removed;
  }
  for (const std::string& name : gone) {
    COVE_CO_TRY_VOID(co_await remove_builtin(context.guest, name, context.call));
    ++all.removed;
  }
  context.note = note_of(skills);
  context.reason = std::to_string(all.written) + " entries written, " +
                   std::to_string(all.removed) + " removed";
  co_return ok();
}

Task<Result<void>> apply_capabilities(SkillStepInputs step, std::string home,
                                      PrepareContext& context) {
  COVE_CO_TRY(const SkillIndex index,
              co_await index_skills(*step.shelf, context.guest, step.instance, *step.inputs, home,
                                    context.call));
  context.reason = std::to_string(index.skills.size()) + " skills";
  for (const std::string& problem : index.problems) context.reason += "; " + problem;
  context.nothing_to_do = index.skills.empty() && index.problems.empty();
  if (index.problems.empty()) co_return ok();
  co_return Error(ErrorCode::kIntegrity, index.problems.front());
}

Result<void> check_name(const char* kind, const std::string& name, std::set<std::string>& seen) {
  if (!is_skill_name(name)) {
    return Error(ErrorCode::kInvalidArgument,
                 std::string(kind) + " " + base::quoted(name) +
                     " must be 1 to 64 of [A-Za-z0-9._-] and begin with one of [A-Za-z0-9_]");
  }
  if (!seen.insert(name).second) {
    return Error(ErrorCode::kInvalidArgument,
                 std::string(kind) + " " + base::quoted(name) + " is there twice");
  }
  return ok();
}

}  // namespace

PrepareStep skills_step(const SkillStepInputs& step) {
  PrepareStep made;
  made.name = "skills";
  made.after = PrepareStage::kSkills;
  made.policy = StepPolicy::kRequired;
  made.timeout = kTimeout;
  made.fingerprint = "none";
  if (!step.inputs->skills.empty()) {
    const auto period = std::max<std::chrono::seconds>(step.grace / 2, 1s);
    made.fingerprint = skills_fingerprint(*step.inputs) + "@" +
                       std::to_string(step.now.time_since_epoch() / period);
  }
  made.apply = [step](PrepareContext& context) { return apply_skills(step, context); };
  return made;
}

Task<Result<PrepareStep>> builtin_skills_step(SkillStepInputs step, const CallContext& call) {
  base::Sha256 hash;
  for (const BuiltinSkill& skill : step.inputs->builtin_skills) {
    COVE_CO_TRY(const auto known, co_await step.shelf->know(skill, call));
    hash.update(skill.name + "\n" + known->outline.hash + "\n");
  }
  PrepareStep made;
  made.name = "builtin_skills";
  made.after = PrepareStage::kBuiltinSkills;
  made.policy = StepPolicy::kRequired;
  made.timeout = kTimeout;
  made.fingerprint = step.inputs->builtin_skills.empty() ? "none" : hash.hex();
  made.apply = [step](PrepareContext& context) { return apply_builtin(step, context); };
  co_return made;
}

PrepareStep capabilities_step(const SkillStepInputs& step, const std::string& home,
                              const std::string& builtin_fingerprint) {
  PrepareStep made;
  made.name = "capabilities";
  made.after = PrepareStage::kCapabilities;
  made.policy = StepPolicy::kBestEffort;
  made.timeout = kTimeout;
  made.fingerprint = skills_fingerprint(*step.inputs) + "+" + builtin_fingerprint;
  made.apply = [step, home](PrepareContext& context) {
    return apply_capabilities(step, home, context);
  };
  return made;
}

Result<void> validate_skills(const PrepareInputs& inputs) {
  std::set<std::string> versions;
  std::set<std::string> names;
  for (const SkillPackage& skill : inputs.skills) {
    COVE_TRY_VOID(check_name("the version id", skill.version_id, versions));
    if (!skill.sha256.empty() && !base::is_hex(skill.sha256, 64)) {
      return Error(ErrorCode::kInvalidArgument, "the sha256 of skill " +
                                                    base::quoted(skill.version_id) +
                                                    " must be 64 digits of [0-9a-f]");
    }
  }
  for (const BuiltinSkill& skill : inputs.builtin_skills) {
    COVE_TRY_VOID(check_name("the builtin skill", skill.name, names));
  }
  return ok();
}

}  // namespace cove::prepare

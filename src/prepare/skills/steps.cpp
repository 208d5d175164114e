#include "prepare/skills/steps.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/json.hpp"
#include "prepare/skills/index.hpp"
#include "prepare/skills/place/builtin_sync.hpp"
#include "prepare/skills/place/placement.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr auto kTimeout = 600s;  // a large package over a slow line
constexpr const char* kNone = "none";

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

std::string published_fingerprint(const SkillInputs& inputs) {
  base::Sha256 hash;
  for (const SkillPackage& skill : inputs.published) hash.update(mark_of(skill));
  return hash.hex();
}

/// Chats with different sets of skills have steps of their own, so that what one placed is not
/// forgotten for the other.
std::string step_name(const char* name, const std::string& fingerprint) {
  constexpr std::size_t kDigits = 8;
  return std::string(name) + "/" + fingerprint.substr(0, kDigits);
}

Task<Result<void>> apply_skills(SkillParts parts, PrepareContext& context) {
  std::vector<SkillPackage>& skills = parts.inputs->published;
  if (skills.empty()) {
    context.nothing_to_do = true;
    context.reason = "no skills are asked for";
    co_return ok();
  }
  PlacementRequest request{.shelf = *parts.shelf,
                           .guest = context.guest,
                           .skills = skills,
                           .instance = instance_name(context.instance),
                           .now = parts.now,
                           .grace = parts.grace,
                           .is_in_use = {},
                           .is_shared = {},
                           .tell = context.tell};
  if (context.instance != nullptr) {
    request.is_in_use = [&parts, &context](const std::string& version_id) {
      return parts.shelf->uses().has(context.instance->volume.sandbox, version_id);
    };
    if (parts.is_shared) {
      request.is_shared = [&parts, &context](const CallContext& call) {
        return parts.is_shared(context.instance->volume.sandbox, call);
      };
    }
  }
  COVE_CO_TRY(const PlacementReport report, co_await place_skills(request, context.call));
  context.reason = report.summary(skills.size());
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

Task<Result<void>> apply_builtin(SkillParts parts, PrepareContext& context) {
  std::set<std::string> gone = names_in(context.note);
  const std::vector<BuiltinSkill>& skills = parts.inputs->builtin;
  if (skills.empty() && gone.empty()) {
    context.nothing_to_do = true;
    context.reason = "no builtin skills are asked for";
    co_return ok();
  }
  BuiltinReport all;
  for (const BuiltinSkill& skill : skills) {
    gone.erase(skill.name);
    Result<BuiltinReport> done =
        co_await sync_builtin(*parts.shelf, context.guest, skill, context.call);
    if (!done) co_return done.error().with_context("skill", skill.name);
    all.written += done->written;
    all.removed += done->removed;
  }
  for (const std::string& name : gone) {
    COVE_CO_TRY_VOID(co_await remove_builtin(context.guest, name, context.call));
    ++all.removed;
  }
  context.note = note_of(skills);
  context.reason =
      std::to_string(all.written) + " entries written, " + std::to_string(all.removed) + " removed";
  co_return ok();
}

Task<Result<void>> apply_capabilities(SkillParts parts, PrepareContext& context) {
  const std::string instance = instance_name(context.instance);
  COVE_CO_TRY(const SkillIndex index,
              co_await index_skills(*parts.shelf, context.guest, instance, *parts.inputs,
                                    parts.home, context.call));
  context.nothing_to_do = index.skills.empty() && index.problems.empty();
  context.reason = std::to_string(index.skills.size()) + " skills";
  if (index.problems.empty()) co_return ok();
  co_return Error(ErrorCode::kIntegrity, index.problems.front());
}

}  // namespace

std::string instance_name(const InstanceRef* instance) {
  if (instance == nullptr) return {};
  return instance->volume.sandbox.str() + "/" + instance->volume.generation.str() + "/" +
         std::to_string(number_of(instance->epoch));
}

Task<Result<std::string>> fingerprint_of(SkillShelf& shelf, const std::vector<BuiltinSkill>& skills,
                                         const CallContext& call) {
  if (skills.empty()) co_return std::string(kNone);
  base::Sha256 hash;
  for (const BuiltinSkill& skill : skills) {
    COVE_CO_TRY(const auto known, co_await shelf.know(skill, call));
    hash.update(skill.name + "\n" + known->outline.hash + "\n");
  }
  co_return hash.hex();
}

PrepareStep skills_step(const SkillParts& parts) {
  PrepareStep step;
  step.name = step_name("skills", published_fingerprint(*parts.inputs));
  step.after = PrepareStage::kSkills;
  step.timeout = kTimeout;
  step.fingerprint = kNone;
  if (!parts.inputs->published.empty()) {
    const auto period = std::max<std::chrono::seconds>(parts.grace / 2, 1s);
    step.fingerprint = published_fingerprint(*parts.inputs) + "@" +
                       std::to_string(parts.now.time_since_epoch() / period);
  }
  step.apply = [parts](PrepareContext& context) { return apply_skills(parts, context); };
  return step;
}

PrepareStep builtin_skills_step(const SkillParts& parts) {
  PrepareStep step;
  step.name = "builtin_skills";
  step.after = PrepareStage::kBuiltinSkills;
  step.timeout = kTimeout;
  step.fingerprint = parts.builtin_fingerprint;
  step.apply = [parts](PrepareContext& context) { return apply_builtin(parts, context); };
  return step;
}

PrepareStep capabilities_step(const SkillParts& parts) {
  PrepareStep step;
  step.name = step_name("capabilities", published_fingerprint(*parts.inputs));
  step.after = PrepareStage::kCapabilities;
  step.policy = StepPolicy::kBestEffort;
  step.timeout = kTimeout;
  step.fingerprint = published_fingerprint(*parts.inputs) + "+" + parts.builtin_fingerprint;
  step.apply = [parts](PrepareContext& context) { return apply_capabilities(parts, context); };
  return step;
}

}  // namespace cove::prepare

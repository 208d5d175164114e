/// The steps of the pipeline that are about skills.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <cove/prepare.hpp>

#include "prepare/skills/place/usage.hpp"
#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

/// What the steps of one acquire share. A step that runs without PrepareContext::instance compares
/// each time what it would remember.
struct SkillParts {
  std::shared_ptr<SkillShelf> shelf;
  std::shared_ptr<SkillInputs> inputs;
  std::string home;                 ///< of the commands
  std::string builtin_fingerprint;  ///< see fingerprint_of
  WallTime now{};                   ///< by the host's clock
  std::chrono::seconds grace{std::chrono::hours(24 * 7)};

  /// See PlacementRequest::is_shared.
  std::function<Task<Result<bool>>(const SandboxId& sandbox, const CallContext& call)> is_shared{};
};

/// Of the contents of builtin skills; reads those of which nothing is known yet. Errors: those of
/// SkillShelf.
Task<Result<std::string>> fingerprint_of(SkillShelf& shelf, const std::vector<BuiltinSkill>& skills,
                                         const CallContext& call);

/// "skills/<8 hex of which>": places the published ones and collects what nobody uses. Its
/// fingerprint also changes twice per grace time, so that what a session goes on using is not
/// collected.
PrepareStep skills_step(const SkillParts& parts);

/// "builtin_skills": brings them up to date, and removes those that are not asked for any more.
PrepareStep builtin_skills_step(const SkillParts& parts);

/// "capabilities/<8 hex of which>": compares what is placed with what was published, ahead of the
/// first Workspace::skills(). Best effort.
PrepareStep capabilities_step(const SkillParts& parts);

/// How what is remembered of an instance is filed; empty where there is none.
std::string instance_name(const InstanceRef* instance);

}  // namespace cove::prepare

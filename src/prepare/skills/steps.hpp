/// The steps of the pipeline that are about skills.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <cove/prepare.hpp>
#include <cove/prepare_inputs.hpp>

#include "prepare/skills/place/usage.hpp"
#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

/// What the steps of one acquire share.
struct SkillStepInputs {
  std::shared_ptr<SkillShelf> shelf;
  std::shared_ptr<const PrepareInputs> inputs;

  /// Names what runs: sandbox, generation and epoch.
  std::string instance;

  WallTime now{};  ///< by the host's clock
  std::chrono::seconds grace{std::chrono::hours(24 * 7)};
  std::function<bool(const std::string& version_id)> is_in_use;
};

/// "skills": places the published ones and collects what nobody uses. Its fingerprint also changes
/// twice per grace time, so that what a session goes on using is not collected.
PrepareStep skills_step(const SkillStepInputs& step);

/// "builtin_skills". Reads those packages of which nothing is known yet, for the fingerprint of
/// their contents. Errors: those of SkillShelf.
Task<Result<PrepareStep>> builtin_skills_step(SkillStepInputs step, const CallContext& call);

/// "capabilities": compares what is placed with what was published, ahead of the first
/// Workspace::skills(). `home`: as of index_skills. Best effort.
PrepareStep capabilities_step(const SkillStepInputs& step, const std::string& home,
                              const std::string& builtin_fingerprint);

/// Checks what `validate` of the inputs checks of skills: names, and that none comes twice.
Result<void> validate_skills(const PrepareInputs& inputs);

}  // namespace cove::prepare

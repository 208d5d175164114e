/// The index of what a workspace has of skills.
#pragma once

#include <string>

#include <cove/guest.hpp>
#include <cove/skills.hpp>

#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

/// The skills of `inputs` that lie in the workspace as they were published. Each package is
/// compared with what lies there once per instance, by one round trip; then nothing is asked.
/// `home`: of the commands, for the locations of builtin skills. Errors: those of the shelf and the
/// guest; a package that is not what it should be is no error but a problem of the index.
Task<Result<SkillIndex>> index_skills(SkillShelf& shelf, Guest& guest, const std::string& instance,
                                      SkillInputs& inputs, const std::string& home,
                                      const CallContext& call);

}  // namespace cove::prepare

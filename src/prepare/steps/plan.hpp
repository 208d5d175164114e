/// From an acquire's inputs to its steps in their order.
#pragma once

#include <memory>
#include <string>

#include <cove/prepare_inputs.hpp>

#include "prepare/pipeline/preparation.hpp"
#include "prepare/skills/steps.hpp"
#include "prepare/steps/input_content.hpp"

namespace cove::prepare {

/// True where there is nothing to prepare but the session's directory.
bool is_plain(const PrepareInputs& inputs);

/// True where make_preparation takes no longer than a call: no file of the host, few bytes.
bool is_quick(const PrepareInputs& inputs);

/// Checks the inputs and makes the steps; may read the host's disk, so it blocks. `session` as in
/// GuestPath; of `skills` all but the inputs. Errors: as validate; kNotFound and others - of a file
/// of the host; kUnsupported - skills, where no shelf is given.
Result<std::shared_ptr<const Preparation>> make_preparation(PrepareInputs inputs,
                                                            const std::string& session,
                                                            HostParts host, SkillParts skills = {});

}  // namespace cove::prepare

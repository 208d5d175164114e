/// The steps that run init scripts: the app's own, and those that skills bring. Best effort.
#pragma once

#include <chrono>
#include <string>

#include <cove/prepare_inputs.hpp>

namespace cove::prepare {

/// `longest_secret`: so much more of the output's end is fetched than is shown, see Redactor.
PrepareStep app_init_step(InitScript script, std::size_t longest_secret);

/// Runs `entrypoint.sh` of a placed skill in its directory; nothing where it has none. `directory`:
/// of the version, below /workspace. `version_id` names a content for ever.
PrepareStep skill_init_step(const std::string& version_id, std::string directory,
                            std::chrono::milliseconds timeout, std::size_t longest_secret);

}  // namespace cove::prepare

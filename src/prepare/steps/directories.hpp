/// The step that makes the session's directory.
#pragma once

#include <string>

#include <cove/prepare.hpp>

namespace cove::prepare {

/// Required. `session` as in GuestPath, not empty.
PrepareStep directories_step(const std::string& session);

}  // namespace cove::prepare

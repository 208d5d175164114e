/// The programs that the library carries: cove-agent and cove-launcher.
///
/// They are written once to `<state>/agent/<build id>/`, so that instances which run keep theirs
/// when the library changes.
#pragma once

#include <string>

#include <cove/log.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

struct AgentImage {
  base::UniqueFd agent;     ///< O_PATH; others may run it, not read it
  base::UniqueFd launcher;  ///< O_PATH
};

/// Writes what is missing or damaged, and opens both. `configured_agent`: path of another agent
/// instead of the library's; empty = the library's. Errors: kInvalidArgument - no such program;
/// kUnsupported - the library was built without them.
Result<AgentImage> open_agent_image(int state, const std::string& configured_agent, LogSink* log);

/// See cove::write_agent.
Result<void> write_library_agent(const std::string& path);

}  // namespace cove::local

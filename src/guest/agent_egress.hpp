/// Serves the connections that an agent's proxy asks for: bytes both ways between a stream of the
/// wire and what an Egress opened.
#pragma once

#include <memory>

#include <cove/egress.hpp>

#include "guest/connection.hpp"

namespace cove::guest {

/// Makes `connection` serve the agent's streams. `egress` is borrowed and outlives the loop's work.
/// One piece of 64 KiB per direction is held; whoever does not read makes the other side wait.
void serve_egress(base::IoLoop& loop, Connection& connection, Egress& egress, SandboxId sandbox);

}  // namespace cove::guest

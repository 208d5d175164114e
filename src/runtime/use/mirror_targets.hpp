/// What an acquire's mirrors mean for network `proxy`.
#pragma once

#include <vector>

#include <cove/egress.hpp>
#include <cove/prepare_inputs.hpp>

namespace cove::runtime {

/// The hosts and ports that mirrors are at: who names a mirror allows it. REQUIRES: validated.
std::vector<EgressTarget> mirror_targets(const Mirrors& mirrors);

/// Where one of them is at a loopback address it is the host's: then commands reach that address
/// through the proxy. What the inputs say of `no_proxy` themselves stays.
void reach_through_proxy(const std::vector<EgressTarget>& targets, PrepareEnvironment& environment);

}  // namespace cove::runtime

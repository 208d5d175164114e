/// Sockets to the outside, on the loop.
#pragma once

#include <memory>

#include <cove/clock.hpp>
#include <cove/egress.hpp>

#include "base/async/io_loop.hpp"
#include "network/rules/ip_address.hpp"

namespace cove::network {

/// Connects to exactly this address. `held` lives as long as the connection. Errors: kUnavailable -
/// refused, or no way there; kTimeout, kCancelled.
Task<Result<std::shared_ptr<EgressConnection>>> connect_to(base::IoLoop& loop,
                                                           const IpAddress& address,
                                                           std::uint16_t port,
                                                           std::shared_ptr<void> held,
                                                           const CallContext& call);

}  // namespace cove::network

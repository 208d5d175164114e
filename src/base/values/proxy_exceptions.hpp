/// What programs in a sandbox with a proxy reach without it: `no_proxy`.
#pragma once

#include <string>
#include <vector>

namespace cove::base {

/// The sandbox's own loopback by its usual names, but for those that are among `hosts`: who names
/// 127.0.0.1 as a mirror, or allows it, means the host's.
std::string proxy_exceptions(const std::vector<std::string>& hosts);

}  // namespace cove::base

/// Grant: the sandbox uses the host's network.
#pragma once

#include <cove/policy.hpp>

namespace cove::grants {

/// Opens: the host's network namespace, with every interface and address that the host reaches,
/// and /etc/resolv.conf, /etc/hosts and the certificates of the host, read-only.
///
/// No longer protects: services that listen on the host's loopback, cloud metadata addresses,
/// abstract Unix sockets of the host, other machines on the host's private networks. Anything the
/// code inside can read, it can send away.
struct HostNetwork {};

}  // namespace cove::grants

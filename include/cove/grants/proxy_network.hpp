/// Grant: the sandbox reaches named hosts through a proxy in the host process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cove/policy.hpp>

namespace cove::grants {

/// One entry of the allow-list.
struct ProxyRule {
  /// `example.org` (exactly that name), `*.example.org` (every name below it, not itself), `*`
  /// (every name, but no address), an IP address, or a range of them (`10.0.0.0/8`, `fd00::/8`).
  std::string host;

  std::vector<std::uint16_t> ports{80, 443};

  /// The name may resolve to a loopback, link-local or private address. Otherwise such an address
  /// is reached only where a rule names it, or a range with it. Metadata services of clouds always
  /// need that.
  bool private_addresses = false;

  friend bool operator==(const ProxyRule&, const ProxyRule&) = default;
};

/// Opens: connections by HTTP, CONNECT and SOCKS5 to what the allow-list names, and to the mirrors
/// that an acquire sets; the proxy resolves names itself, outside. There is still no interface but
/// loopback inside. An empty list leaves the mirrors alone.
///
/// No longer protects: what code inside can read it can send to every host on the list, and to
/// whoever answers for a name there (`*.example.org` also carries data in the names themselves).
/// docs/network.md says what the proxy checks.
struct ProxyNetwork {
  std::vector<ProxyRule> allow;

  friend bool operator==(const ProxyNetwork&, const ProxyNetwork&) = default;
};

}  // namespace cove::grants

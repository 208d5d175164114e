#include <cove/grants/host_network.hpp>
#include <cove/grants/proxy_network.hpp>
#include <cove/grants/writable_system.hpp>

namespace cove {

void SandboxPolicy::allow(const grants::HostNetwork& /*grant*/) { host_network_ = true; }

void SandboxPolicy::allow(const grants::WritableSystem& /*grant*/) { writable_system_ = true; }
void SandboxPolicy::allow(const grants::ProxyNetwork& grant) {
  proxy_network_ = std::make_shared<const grants::ProxyNetwork>(grant);
}

}  // namespace cove

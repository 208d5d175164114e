#include <cove/grants/host_network.hpp>
#include <cove/grants/writable_system.hpp>

namespace cove {

void SandboxPolicy::allow(const grants::HostNetwork& /*grant*/) { host_network_ = true; }

void SandboxPolicy::allow(const grants::WritableSystem& /*grant*/) { writable_system_ = true; }

}  // namespace cove

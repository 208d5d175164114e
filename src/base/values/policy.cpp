#include <cove/grants/host_network.hpp>

namespace cove {

void SandboxPolicy::allow(const grants::HostNetwork& /*grant*/) { host_network_ = true; }

}  // namespace cove

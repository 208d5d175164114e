/// What Cove::doctor looks at besides the provider's own findings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/cove.hpp>

#include "runtime/core.hpp"

namespace cove::runtime {

/// All findings: the machine's room, the service manager, the provider. Blocks; any thread.
std::vector<Finding> examine(Core& core);

/// What the free room of the state directory's disk means.
Finding room_finding(std::uint64_t free_bytes, std::uint64_t total_bytes);

/// What a limit of open descriptors means.
Finding descriptors_finding(std::uint64_t limit);

/// The systemd service that /proc/self/cgroup (its text) says this process runs in; none outside of
/// one, and in an interactive session's scope.
std::optional<std::string> service_of(std::string_view proc_self_cgroup);

}  // namespace cove::runtime

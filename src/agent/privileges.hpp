/// What the agent does to itself before anything else runs.
#pragma once

#include <cstdint>

#include <cove/result.hpp>

#include "wire/boot.hpp"

namespace cove::agent {

struct Privileges {
  bool switch_ids = false;       ///< commands change to the boot's ids
  std::uint64_t open_files = 0;  ///< the soft limit that commands start with
};

/// Makes the process safe and small: not dumpable, dying with its parent, a subreaper, all
/// descriptors close-on-exec and 0 to 2 taken, no signal handled, no new privileges, an empty
/// bounding set. Where `boot` names other ids than ours, files are touched with those from here on,
/// and only the capabilities to become them and to signal them stay. Where commands have
/// capabilities the agent keeps these and no others. kPermissionDenied: it cannot become them, or
/// lacks such a capability.
Result<Privileges> settle(const wire::AgentBoot& boot);

}  // namespace cove::agent

/// Files of a root file system tree that nobody inside a sandbox would own: where an owner or a
/// group has no id inside, not even root there can change, replace or remove the file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <cove/result.hpp>

#include "providers/local/layer/system_base.hpp"

namespace cove::local {

struct UnmappedEntry {
  std::string path;  ///< relative to the tree
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

using IsMapped = std::function<bool(std::uint32_t uid, std::uint32_t gid)>;

/// Looks at the top directories alone.
Result<std::optional<UnmappedEntry>> unmapped_top(const SystemBase& base,
                                                  const IsMapped& is_mapped);

/// Looks at all that is in the top directories too, on their own file systems; not into directories
/// that are closed to this process. Reads every directory, so only where a layer is made.
Result<std::optional<UnmappedEntry>> unmapped_entry(const SystemBase& base,
                                                    const IsMapped& is_mapped);

}  // namespace cove::local

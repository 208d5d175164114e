/// What the world cannot read below a directory of the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <cove/result.hpp>

namespace cove::local {

struct UnreadableEntry {
  std::string path;  ///< relative
  bool is_directory = false;
  mode_t mode = 0;  ///< permissions alone
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

/// Finds regular files that others may not read, and directories that others may not list and enter
/// (not what is below these), on the directory's own file system. Reads every directory once. What
/// goes meanwhile is left out.
Result<std::vector<UnreadableEntry>> unreadable_entries(int directory);

}  // namespace cove::local

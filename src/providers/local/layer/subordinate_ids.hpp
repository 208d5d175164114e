/// The ids that the machine gives to an ordinary user besides its own, for a user namespace with
/// many users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cove/result.hpp>

namespace cove::local {

struct SubordinateIds {
  std::string map_uids;  ///< path of newuidmap
  std::string map_gids;  ///< path of newgidmap
  std::uint32_t first_uid = 0;
  std::uint32_t first_gid = 0;

  /// Inside ids 1 to this are the subordinate ones; 0 is the user's own.
  static constexpr std::uint32_t kCount = 65535;
};

/// Those of this process's user. kUnsupported: the programs of uidmap are missing, or it has too
/// few; with the remedy.
Result<SubordinateIds> subordinate_ids();

/// The first of `kCount` ids in a row that a text like /etc/subuid gives to a user, named or by
/// number.
std::optional<std::uint32_t> subordinate_range(std::string_view text, std::string_view name,
                                               std::uint32_t uid);

}  // namespace cove::local

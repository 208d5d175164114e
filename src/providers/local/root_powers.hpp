/// Whether uid 0 means what it says here: it may be the root of a user namespace, or have lost its
/// capabilities.
#pragma once

#include <cstdint>
#include <string_view>

#include <cove/result.hpp>

namespace cove::local {

/// True where the effective user is uid 0 and its user namespace has ids enough for ranges. The
/// root of a namespace with one id or few (`unshare -r`) is an ordinary user in all that counts.
bool is_range_root();

struct UidMap {
  std::uint64_t ids = 0;        ///< how many there are, at most 2^32
  bool has_outer_root = false;  ///< uid 0 is that of the namespace outside too
};

/// Reads a text like /proc/self/uid_map.
UidMap parse_uid_map(std::string_view text);

/// kProvider, with cause and remedy: uid 0, but without a capability that giving each volume its
/// own uids takes; or uid 0 without ids to give that would run sandboxes as the machine's root.
/// Success for an ordinary user.
Result<void> check_root_powers();

/// The same for a text like /proc/self/uid_map.
Result<void> check_map_in(std::string_view uid_map);

/// The same for the effective capabilities of a text like /proc/self/status.
Result<void> check_powers_in(std::string_view status);

}  // namespace cove::local

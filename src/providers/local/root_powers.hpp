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

/// The sum of the counts in a text like /proc/self/uid_map, at most 2^32.
std::uint64_t ids_in(std::string_view uid_map);

/// kProvider: uid 0, but without a capability that giving each volume its own uids takes. The
/// message names those that are missing, and what to do. Success for an ordinary user.
Result<void> check_root_powers();

/// The same for the effective capabilities of a text like /proc/self/status.
Result<void> check_powers_in(std::string_view status);

}  // namespace cove::local

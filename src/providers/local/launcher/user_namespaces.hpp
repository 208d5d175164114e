/// User namespaces that the launcher makes, and their maps of ids. Each step fails as failing.hpp
/// says.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace cove::local {

/// Starts a child in a user namespace of its own, owned by the effective uid; it keeps the
/// namespace alive until it is killed, and is the caller's to reap. -1 with errno where it is
/// refused.
pid_t hold_user_namespace();

/// Opens the user namespace of such a child; the caller closes it.
int open_user_namespace(pid_t child);

/// Maps inside ids 0 to 65,535 to the host's from `first` on. REQUIRES: root.
void write_range_maps(pid_t child, std::uint32_t first);

/// A setuid program that maps ids (newuidmap), and the ids that it may map, as decimal numbers.
struct SubordinateMap {
  const char* program;
  const char* first;
  const char* count;
};

/// Maps inside 0 to this user's `own`, and inside 1 and up to the ids that the machine gives to it.
void write_subordinate_map(const SubordinateMap& map, pid_t child, unsigned own);

}  // namespace cove::local

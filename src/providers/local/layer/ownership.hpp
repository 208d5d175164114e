/// Owners of what lies on a volume. REQUIRES: root, and that nothing runs on the volume.
#pragma once

#include <cstdint>

#include <cove/result.hpp>

namespace cove::local {

/// Gives everything below `directory`, and itself, to a host uid, which is a host gid too. For
/// trees that Cove made.
Result<void> give_all(int directory, std::uint32_t owner);

/// Gives what belongs to the host's uid or gid `from`, below `directory` and itself, to `to`. The
/// content is hostile: links are not followed, directories of any depth take one descriptor.
Result<void> change_owner(int directory, std::uint32_t from, std::uint32_t to);

}  // namespace cove::local

/// The small JSON object beside a snapshot's data (docs/formats.md, "Snapshot format 1").
#pragma once

#include <string>
#include <string_view>

#include <cove/ids.hpp>
#include <cove/result.hpp>
#include <cove/snapshot.hpp>

#include "snapshot/tree/tree_reader.hpp"

namespace cove::snapshot {

inline constexpr std::uint32_t kFormat = 1;

/// No manifest is larger, in bytes: a workspace key is at most 1048 bytes.
inline constexpr std::size_t kMaxManifest = 64 * 1024;

struct Manifest {
  SnapshotOwner owner;
  OperationId attempt;
  SnapshotObject data;
  TreeCounts counts;
};

std::string to_json(const Manifest& manifest);

/// kIntegrity: it is no manifest; kUnsupported: it is of a format that this version does not know.
Result<Manifest> parse_manifest(std::string_view text);

/// `cove/v1/<deployment>/<sandbox>/<incarnation>/`, then `<attempt>/` where that is not empty.
/// kInvalidArgument: a part is missing or is no segment of a key.
Result<std::string> prefix_of(const SnapshotOwner& owner, const OperationId& attempt);

}  // namespace cove::snapshot

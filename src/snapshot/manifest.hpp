/// The small JSON object beside a snapshot's data (docs/formats.md, "Snapshot formats 1 and 2").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cove/ids.hpp>
#include <cove/result.hpp>
#include <cove/snapshot.hpp>

#include "snapshot/tree/tree_reader.hpp"

namespace cove::snapshot {

/// A snapshot of the workspace alone; of the workspace and HOME.
inline constexpr std::uint32_t kFormat = 1;
inline constexpr std::uint32_t kFormatWithHome = 2;

/// No manifest is larger, in bytes: a workspace key is at most 1048 bytes.
inline constexpr std::size_t kMaxManifest = 64 * 1024;

/// One directory of a volume, as an archive of its own.
struct SavedTree {
  SnapshotObject data;
  TreeCounts counts;
};

struct Manifest {
  SnapshotOwner owner;
  OperationId attempt;
  SavedTree workspace;
  std::optional<SavedTree> home;
};

/// What the record keeps of a snapshot whose manifest is `object`: the trees' objects, in their
/// order, and the manifest last.
SnapshotRef reference_of(const Manifest& manifest, SnapshotObject object);

std::string to_json(const Manifest& manifest);

/// kIntegrity: it is no manifest; kUnsupported: it is of a format that this version does not know.
Result<Manifest> parse_manifest(std::string_view text);

/// `cove/v1/<deployment>/<sandbox>/<incarnation>/`, then `<attempt>/` where that is not empty.
/// kInvalidArgument: a part is missing or is no segment of a key.
Result<std::string> prefix_of(const SnapshotOwner& owner, const OperationId& attempt);

}  // namespace cove::snapshot

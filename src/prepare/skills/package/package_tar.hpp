/// A Package as a tar stream, for the guest to unpack.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/tar/tar_entry.hpp"
#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

/// Which entries go into the stream, and beneath which directory (empty = none).
struct TarChoice {
  std::string beneath;
  std::function<bool(const PackageEntry&)> wanted;  ///< empty = all
};

/// The kind that an entry of a package is in a tar.
base::TarType tar_type_of(PackageEntryType type);

/// Gives pieces of some 256 KiB; memory is bounded by them and the package. Files get 0644 or 0755
/// and no time of their own.
std::unique_ptr<ByteSource> tar_of(std::shared_ptr<const Package> package, TarChoice choice = {});

}  // namespace cove::prepare

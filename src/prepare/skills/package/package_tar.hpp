/// A Package as a tar stream, for the guest to unpack.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

/// Which entries go into the stream, and beneath which directory (empty = none).
struct TarChoice {
  std::string beneath;
  std::function<bool(const PackageEntry&)> wanted;  ///< empty = all
};

/// Gives pieces of some 256 KiB; memory is bounded by them and the package. Files get 0644 or 0755
/// and no time of their own.
std::unique_ptr<ByteSource> tar_of(std::shared_ptr<const Package> package, TarChoice choice = {});

}  // namespace cove::prepare

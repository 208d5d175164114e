/// The writable system layer of an instance that is being started; see grants/writable_system.hpp.
#pragma once

#include <optional>

#include <cove/policy.hpp>
#include <cove/result.hpp>

#include "providers/local/layer/subordinate_ids.hpp"
#include "providers/local/layer/system_base.hpp"
#include "providers/local/layer/system_part.hpp"
#include "providers/local/volume/volumes.hpp"

namespace cove::local {

struct SystemLayer {
  SystemBase base;
  SystemPart part;
  std::optional<SubordinateIds> subordinate;  ///< where the volume has no uid range
};

/// Makes what a start with a writable system needs. From any thread.
class SystemLayers {
 public:
  /// Opens or makes the volume's part. `made_up_etc`: see made_up_etc.hpp. REQUIRES: the volume is
  /// the caller's alone. Errors: kInvalidArgument - the root tree; kUnsupported - this machine or
  /// user cannot have one, with the remedy; kFailedPrecondition - it lies over another base.
  Result<SystemLayer> open(const OpenedVolume& volume, const SandboxPolicy& policy,
                           int made_up_etc);

 private:
  SystemParts parts_;
};

/// Lets workspace and HOME of a volume with a uid range belong to whom commands run as: root with a
/// writable system, else the sandbox's user. What the other one had is given over; free where
/// nothing changed. REQUIRES: the volume is the caller's alone.
Result<void> settle_owner(const OpenedVolume& volume, bool is_root);

}  // namespace cove::local

/// Host uid ranges: each volume of a host that is root gets 65,536 ids that nothing else has.
///
/// They are given out for the whole machine, over all state directories, from one directory,
/// /var/lib/cove-uid-ranges: it must outlive a reboot because the files of the volumes do (so not
/// /run). One small file per range says whose it is; a lock file orders who gives out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "providers/local/volume/volume_marker.hpp"

namespace cove::local {

/// Who holds a range: a volume of a state directory, known by its random name, so that a state
/// directory may be moved.
struct RangeHolder {
  std::string state_name;  ///< StateDirectory::node_file
  std::string state_path;  ///< where that was; only used to find what was deleted by hand
  std::string volume;      ///< path_of
};

struct UidRangesConfig {
  std::string directory = "/var/lib/cove-uid-ranges";
  std::uint32_t base = 536'870'912;  ///< first id of the first range: 2^20 * 512
  std::uint32_t count = 4096;        ///< ranges

  /// With the defaults in place of an empty directory and of 0.
  static UidRangesConfig of(const std::string& directory, std::uint32_t base, std::uint32_t count);
};

class UidRanges {
 public:
  explicit UidRanges(UidRangesConfig config);

  /// Gives out a free range; durable once all of `unsynced` are synced, before the volume is used.
  /// kQuotaExceeded: all are given out, and none belongs to a volume that is gone.
  Result<UidRange> allocate(const RangeHolder& holder) const;

  /// The file and the directory that say whose a range is, for sync_fd.
  Result<std::vector<base::UniqueFd>> unsynced(UidRange range) const;

  /// The range that a holder was given before, also where it died before it could write that down.
  /// Looks at every range.
  Result<std::optional<UidRange>> find(const RangeHolder& holder) const;

  /// True where the range is this holder's; one that nobody has is taken for it. False: it is
  /// another's.
  Result<bool> confirm(UidRange range, const RangeHolder& holder) const;

  /// Returns a range. Success where it is free or another's.
  Result<void> release(UidRange range, const RangeHolder& holder) const;

 private:
  Result<UidRange> choose(int directory, const std::vector<std::uint64_t>& taken) const;

  UidRangesConfig config_;
};

}  // namespace cove::local

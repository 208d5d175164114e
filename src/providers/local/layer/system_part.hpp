/// The third part of a volume: what a sandbox changed in its system.
///
///     <volume>/system/base                        what it lies over, one line
///     <volume>/system/overlaid/<name>/upper       what was changed in one system directory
///     <volume>/system/overlaid/<name>/work        the overlay file system's own
///     <volume>/system/overlaid/<name>/merged      where it is mounted, as an ordinary user
///     <volume>/system/made/<name>/                a top directory that lies wholly here
///
/// Made whole under another name first, when a start asks for it; then it lasts as long as the
/// volume.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "providers/local/layer/system_base.hpp"
#include "providers/local/layer/unreadable_entries.hpp"
#include "providers/local/volume/volume_marker.hpp"

namespace cove::local {

inline constexpr const char* kSystemPart = "system";

struct SystemPart {
  base::UniqueFd overlaid;
  std::vector<base::UniqueFd> made;  ///< in the order of SystemBase::made
};

class SystemParts {
 public:
  /// Opens a volume's part, or makes it. `range`: whose ids the files belong to; none: this user's.
  /// REQUIRES: nothing runs on the volume, and nobody else works on it. Errors: kFailedPrecondition
  /// - it lies over another base; kQuotaExceeded - no room; those of the disk.
  Result<SystemPart> open(int volume, const SystemBase& base, int made_up_etc,
                          const std::optional<UidRange>& range);

 private:
  struct Making;

  Result<void> make(int volume, const Making& making);
  Result<void> fill_overlay(int part, const OverlaidDirectory& directory, const Making& making);
  Result<void> put_placeholders(int upper, const OverlaidDirectory& directory,
                                const Making& making);
  Result<std::vector<UnreadableEntry>> unreadable(const OverlaidDirectory& directory);

  struct Known {
    std::string stamp;  ///< of the package database when it was looked
    std::vector<UnreadableEntry> entries;
  };
  std::mutex mutex_;
  std::map<std::string, Known> known_;  ///< by the directory's name; guarded by mutex_
};

}  // namespace cove::local

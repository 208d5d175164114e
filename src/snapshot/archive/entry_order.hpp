/// EntryOrder: which entries an archive may have next. No file system is asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cove/result.hpp>

#include "snapshot/archive/entry.hpp"

namespace cove::snapshot {

/// Splits a path at `/`. kIntegrity: it is absolute, or has an empty segment, `.`, `..` or one of
/// more than 255 bytes.
Result<std::vector<std::string_view>> segments_of(std::string_view path);

/// An archive begins with the workspace itself, and the parent of every entry is a directory of the
/// archive that is still open: the one that came last or one above it. So nothing can be written
/// through a link, however the archive was made.
class EntryOrder {
 public:
  /// Refuses with kIntegrity, or takes the entry and returns how many directories are above it.
  Result<std::size_t> accept(const Entry& entry);

 private:
  bool begun_ = false;
  std::vector<std::string> open_;
};

}  // namespace cove::snapshot

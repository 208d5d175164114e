/// EntryFilter: which entries a walk goes through, and which it wants.
#pragma once

#include <cstddef>
#include <string_view>

#include "agent/search/walk/glob.hpp"

namespace cove::agent {

class EntryFilter {
 public:
  virtual ~EntryFilter() = default;

  /// Whether an entry is wanted. `path` is below the searched directory; `type` is DT_*.
  virtual bool wants(std::string_view path, std::string_view name, unsigned char type) const = 0;

  GlobList exclude;
  bool use_ignore_files = true;
  bool hidden = false;
  std::size_t searched = 0;  ///< bytes of a path below /workspace before the searched directory's
};

}  // namespace cove::agent

/// DirectoryChain: where we are in a volume, as descriptors; however deep, with few of them open.
#pragma once

#include <string>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::snapshot {

/// Every open is beneath the root, without links and mounts (base::open_in_volume). Directories
/// more than some 32 levels up are closed and opened again by their names when needed, so the
/// volume must not be changed by others meanwhile. One thread at a time. All calls block.
class DirectoryChain {
 public:
  /// Opens the root `volume` (borrowed for the call) for reading.
  static Result<DirectoryChain> open(int volume);

  /// How many directories below the root it is; 0 = at the root.
  std::size_t depth() const noexcept { return levels_.size(); }

  /// The path from the root, without `/` at either end; empty = the root.
  const std::string& path() const noexcept { return path_; }

  /// The path of `name` in the current directory.
  std::string path_of(const std::string& name) const {
    return path_.empty() ? name : path_ + "/" + name;
  }

  /// The current directory's descriptor, borrowed; it stays open over one push, not over a pop.
  Result<int> fd();

  /// Goes down into `name`. Returns the error number; where it is not 0 nothing changed.
  Result<int> push(const std::string& name);

  /// Goes up. REQUIRES: depth() > 0.
  void pop();

  /// Opens the directory that lies `path` below the root; empty = the root.
  Result<base::UniqueFd> open_below(std::string_view path) const;

 private:
  struct Level {
    base::UniqueFd fd;  // none = closed for now
    std::size_t name_size = 0;
  };

  explicit DirectoryChain(base::UniqueFd root) : root_(std::move(root)) {}

  base::UniqueFd root_;
  std::vector<Level> levels_;
  std::string path_;
};

}  // namespace cove::snapshot

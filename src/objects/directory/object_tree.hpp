/// ObjectTree: keys as files below a root descriptor. Everything here blocks.
#pragma once

#include <string>

#include <cove/object_store.hpp>

#include "base/system/unique_fd.hpp"
#include "objects/directory/staged_file.hpp"

namespace cove::objects {

/// The mark after a directory's name. It is no character of a key, so that the objects `a` and
/// `a/b` can both be: a file `a` beside a directory `a+`.
inline constexpr char kDirectoryMark = '+';

/// Safe from any thread and beside other processes. REQUIRES: every key is valid.
class ObjectTree {
 public:
  explicit ObjectTree(base::UniqueFd root) : root_(std::move(root)) {}

  int root() const noexcept { return *root_; }

  /// Makes a synced file the object `key`, and that durable.
  Result<void> publish(const ObjectKey& key, StagedFile& file) const;

  /// Opens an object's file with `flags`. kNotFound.
  Result<base::UniqueFd> open(const ObjectKey& key, int flags) const;

  Result<ObjectInfo> stat(const ObjectKey& key) const;

  /// Removes an object, durably, and the directories that are empty then.
  Result<void> remove(const ObjectKey& key) const;

  Result<ObjectPage> list(const std::string& prefix, const std::string& after,
                          std::uint32_t limit) const;

 private:
  void prune(std::string directory) const;

  base::UniqueFd root_;
};

}  // namespace cove::objects

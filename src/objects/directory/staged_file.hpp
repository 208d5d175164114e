/// StagedFile: an object while it is written; nobody sees it before it is whole.
#pragma once

#include <string>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::objects {

/// Where files that need a name while they are written have it, below the store's root. No key has
/// this segment.
inline constexpr const char* kStagingDirectory = "tmp~";

/// All calls block. One thread at a time. Destroyed without publish(), it leaves nothing.
class StagedFile {
 public:
  /// Makes an empty file in the store `root` (borrowed, must outlive it): without a name where
  /// `unnamed` and the file system can, else named and locked.
  static Result<StagedFile> create(int root, bool unnamed);

  ~StagedFile();
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;

  Result<void> append(ByteView bytes);

  /// Makes the content durable.
  Result<void> sync();

  /// Gives the file the name `name` in `directory` where that is free, in one step, also between
  /// processes. Returns the error number: 0, EEXIST - taken, ENOENT - the directory was removed.
  int publish(int directory, const char* name);

 private:
  StagedFile(int root, base::UniqueFd file, std::string name);

  int root_;
  base::UniqueFd file_;
  std::string name_;  // below root_; empty = the file has none
};

/// Removes the named files of writers that are gone: those that nobody holds locked.
void remove_dead_staged_files(int root);

}  // namespace cove::objects

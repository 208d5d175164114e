/// Writes files: by a rename, so that a reader sees the old or the new one, or to their end.
#pragma once

#include <memory>

#include "agent/files.hpp"
#include "agent/files/file_locks.hpp"
#include "agent/files/path_walk.hpp"

namespace cove::agent {

/// What of WriteOptions must hold when a file is changed: kConflict, kAlreadyExists. `facts`: null
/// where nothing has the name.
Result<void> check_conditions(const struct stat* facts, const WriteOptions& options,
                              const std::string& shown);

/// Begins to write what is at `place`, which is missing or a regular file. `shown`: the path as
/// errors name it. `locks` is borrowed. Errors: kFailedPrecondition - something else is there;
/// kQuotaExceeded; kPermissionDenied; those of check_conditions.
Result<std::unique_ptr<FileWriter>> begin_writing(Place place, const WriteOptions& options,
                                                  std::string shown, FileLocks& locks);

/// Replaces what is at `place` with `content`. The caller holds the lock and has checked what is
/// there. `was`: what is replaced; kConflict where it is another file by now.
Result<FileInfo> replace_now(const Place& place, ByteView content, const WriteOptions& options,
                             const struct stat& was, const std::string& shown);

}  // namespace cove::agent

/// Gives what is somewhere another name.
#pragma once

#include <string>

#include <cove/files.hpp>
#include <cove/result.hpp>

#include "agent/files/file_locks.hpp"
#include "agent/files/path_walk.hpp"

namespace cove::agent {

struct MoveNames {
  std::string from;  ///< as errors show it
  std::string to;
};

/// Moves what is at `from` to `to`, by one rename. Errors: as of GuestFiles::move.
Result<FileInfo> move_place(const Place& from, const Place& to, const MoveOptions& options,
                            const MoveNames& shown, FileLocks& locks);

}  // namespace cove::agent

/// Opens what a walk has found, whoever made it and whatever its mode.
#pragma once

#include <string>
#include <vector>

#include <sys/stat.h>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "snapshot/archive/entry.hpp"

namespace cove::snapshot {

/// Opens the regular file `name` of `directory` for reading, and checks that it is the one that
/// `found` tells of. `path` is for messages.
Result<base::UniqueFd> open_file(int directory, const std::string& name, const struct stat& found,
                                 const std::string& path);

/// Gives the owner of `name` in `directory` `more` mode bits (0500), where that is us. Returns the
/// mode that was.
Result<int> widen_mode(int directory, const std::string& name, unsigned more,
                       const std::string& path);

/// The attributes user.* of an open file or directory.
Result<std::vector<Xattr>> xattrs_of(int file, const std::string& path);

/// The text of a symbolic link, whatever its length.
Result<std::string> link_text(int directory, const std::string& name, const std::string& path);

/// `what` failed at `path` with `error_number`.
Error failure_at(int error_number, const char* what, const std::string& path);

/// Somebody else writes the volume.
Error changed_meanwhile(const std::string& path, const char* how);

}  // namespace cove::snapshot

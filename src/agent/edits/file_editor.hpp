/// Edits files in place of their old content.
#pragma once

#include <string>
#include <vector>

#include <cove/edit.hpp>
#include <cove/result.hpp>

#include "agent/files/file_locks.hpp"
#include "agent/files/path_walk.hpp"

namespace cove::agent {

/// Edits what is at `place`, all or none, while it holds the file's lock. Where somebody else
/// changes the file meanwhile, it is read and edited anew. REQUIRES: check_edits. Errors: as of
/// GuestFiles::edit_file.
Result<EditResult> edit_place(const Place& place, const std::vector<Edit>& edits,
                              const EditOptions& options, const std::string& shown,
                              FileLocks& locks);

}  // namespace cove::agent

/// Replaces files by a rename, so that a reader sees the old or the new one.
#pragma once

#include <memory>

#include "agent/files.hpp"
#include "agent/files/path_walk.hpp"

namespace cove::agent {

/// Begins to replace what is at `place`, which is missing or a regular file. `shown`: the path as
/// errors name it. Errors: kFailedPrecondition - something else is there; kQuotaExceeded;
/// kPermissionDenied.
Result<std::unique_ptr<FileWriter>> begin_replacing(Place place, const WriteOptions& options,
                                                    std::string shown);

}  // namespace cove::agent

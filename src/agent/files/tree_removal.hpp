/// Removes names from directories: one, or a whole tree.
#pragma once

#include <string>

#include <cove/result.hpp>

namespace cove::agent {

/// Removes `name` of the directory `parent`: a file, a link or an empty directory. `shown`: the
/// path as errors name it. Errors: kNotFound; kFailedPrecondition - a directory that is not empty.
Result<void> remove_entry(int parent, const std::string& name, const std::string& shown);

/// The same with everything below a directory. No link is followed; a tree of any depth takes a
/// bounded number of descriptors. What an error leaves is a part of the tree. Errors: kNotFound;
/// kPermissionDenied; kConflict - others write into it or move it meanwhile.
Result<void> remove_tree(int parent, const std::string& name, const std::string& shown);

}  // namespace cove::agent

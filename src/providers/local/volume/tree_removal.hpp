/// Deletes what a sandbox left behind, by descriptors.
#pragma once

#include <string>

#include <cove/result.hpp>

namespace cove::local {

/// Deletes the directory `name` below `directory` and everything in it; success where it is gone.
///
/// The content is hostile: links are deleted, never followed; directories of any depth take a
/// constant number of descriptors; those without permissions are opened up first, where they are
/// the caller's. Stopped half-way, a repeat goes on.
Result<void> remove_tree(int directory, const std::string& name);

}  // namespace cove::local

/// The functions of libcove.so, found when it is loaded: the addon is not linked with it, so that
/// the symbols of Node's own OpenSSL and zlib bind to nothing of ours, nor ours to them.
#pragma once

#include <memory>
#include <string>

#include <cove.h>

namespace cove_node {

/// Immutable once loaded; any thread. The library stays loaded as long as the process lasts.
struct Library {
#define COVE_FUNCTION(name) decltype(&::name) name = nullptr;
#include "functions.def"
#undef COVE_FUNCTION

  /// Null where it cannot be loaded or lacks a function; then `*problem` says why.
  static std::shared_ptr<const Library> load(const std::string& path, std::string* problem);
};

using LibraryPtr = std::shared_ptr<const Library>;

}  // namespace cove_node

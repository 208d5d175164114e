/// What of HOME may be read by an absolute path, and is never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/files.hpp"

namespace cove::agent {

struct ReadableDirectory {
  std::string name;  ///< below HOME: ".cove/builtin"
  std::string path;  ///< absolute
  std::string rest;  ///< of the path that was looked for: empty, or from a slash on
};

/// The one that `path` names or is below by its text; none for every other path.
std::optional<ReadableDirectory> find_readable(const Home& home, std::string_view path);

}  // namespace cove::agent

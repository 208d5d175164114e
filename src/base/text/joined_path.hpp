/// A path out of a directory as it was named, and what was found below it.
#pragma once

#include <string>

namespace cove::base {

/// `found` below `directory`, as a path that can be used where `directory` could.
inline std::string joined_path(std::string directory, const std::string& found) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  if (directory.empty() || directory == ".") return found;
  return directory + (directory == "/" ? "" : "/") + found;
}

}  // namespace cove::base

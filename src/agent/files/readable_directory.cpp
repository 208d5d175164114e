#include "agent/files/readable_directory.hpp"

#include <algorithm>

namespace cove::agent {
namespace {

/// Takes the next name off the front; empty at the end.
std::string_view take_name(std::string_view& path) {
  for (;;) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const std::string_view name = path.substr(0, std::min(path.find('/'), path.size()));
    path.remove_prefix(name.size());
    if (name != ".") return name;
  }
}

/// What of `path` is behind `directory`; none where it is not below it.
std::optional<std::string> rest_behind(std::string_view directory, std::string_view path) {
  for (;;) {
    const std::string_view wanted = take_name(directory);
    if (wanted.empty()) return std::string(path);
    if (take_name(path) != wanted) return std::nullopt;
  }
}

}  // namespace

std::optional<ReadableDirectory> find_readable(const Home& home, std::string_view path) {
  if (!home.fd || !path.starts_with('/')) return std::nullopt;
  for (const char* name : {".cove/builtin", ".cove/spill"}) {
    std::string directory = home.path + "/" + name;
    std::optional<std::string> rest = rest_behind(directory, path);
    if (rest) return ReadableDirectory{name, std::move(directory), *std::move(rest)};
  }
  return std::nullopt;
}

}  // namespace cove::agent

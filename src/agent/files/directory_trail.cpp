#include "agent/files/directory_trail.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>

#include "base/system/beneath.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kHeld = 32;

}  // namespace

base::UniqueFd open_directory_below(int root, std::string_view path) {
  base::UniqueFd reached;
  do {
    std::size_t length = path.size();
    if (length >= PATH_MAX) {
      length = path.rfind('/', PATH_MAX - 1);
      if (length == std::string_view::npos) {
        errno = ENAMETOOLONG;
        return {};
      }
    }
    const std::string piece = length == 0 ? "." : std::string(path.substr(0, length));
    path.remove_prefix(std::min(length + 1, path.size()));
    base::BeneathResult next = base::open_beneath(reached ? *reached : root, piece.c_str(),
                                                  O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
    errno = next.error_number;
    reached = std::move(next.fd);
  } while (reached && !path.empty());
  return reached;
}

void DirectoryTrail::enter(std::string name, base::UniqueFd directory) {
  names_.push_back(std::move(name));
  hold(std::move(directory));
}

void DirectoryTrail::leave() {
  names_.pop_back();
  if (!held_.empty() && held_.back().depth > names_.size()) held_.pop_back();
}

void DirectoryTrail::reset() {
  names_.clear();
  held_.clear();
}

std::string DirectoryTrail::text() const {
  std::string text;
  for (const std::string& name : names_) {
    if (!text.empty()) text += '/';
    text += name;
  }
  return text;
}

DirectoryTrail::Here DirectoryTrail::here() {
  if (names_.empty()) return {root_, 0};
  std::size_t depth = held_.empty() ? 0 : held_.back().depth;
  base::UniqueFd reached;
  while (depth < names_.size()) {
    std::string piece;  // as much as one call takes
    while (depth < names_.size() && piece.size() + names_[depth].size() + 2 < PATH_MAX) {
      piece += names_[depth++] + "/";
    }
    const int from = reached ? *reached : held_.empty() ? root_ : *held_.back().fd;
    base::BeneathResult next =
        base::open_beneath(from, piece.c_str(), O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
    if (!next.fd) return {-1, next.error_number};
    reached = std::move(next.fd);
  }
  if (reached) hold(std::move(reached));
  return {*held_.back().fd, 0};
}

void DirectoryTrail::hold(base::UniqueFd directory) {
  held_.push_back({names_.size(), std::move(directory)});
  if (held_.size() > kHeld) held_.pop_front();
}

}  // namespace cove::agent

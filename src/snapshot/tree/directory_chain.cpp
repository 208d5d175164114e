#include "snapshot/tree/directory_chain.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>

#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"
#include "snapshot/archive/entry.hpp"

namespace cove::snapshot {
namespace {

constexpr std::size_t kOpenLevels = 32;
constexpr std::size_t kHop = 3500;  // bytes of path for one openat2; PATH_MAX is 4096
constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

}  // namespace

Result<DirectoryChain> DirectoryChain::open(int volume) {
  auto root = base::open_in_volume(volume, ".", kFlags);
  if (!root.fd) return base::system_error(root.error_number, "open the workspace");
  return DirectoryChain(std::move(root.fd));
}

Result<int> DirectoryChain::fd() {
  if (levels_.empty()) return *root_;
  if (!levels_.back().fd) {
    COVE_TRY(levels_.back().fd, open_below(path_));
  }
  return *levels_.back().fd;
}

Result<int> DirectoryChain::push(const std::string& name) {
  COVE_TRY(const int parent, fd());
  auto child = base::open_in_volume(parent, name.c_str(), kFlags);
  if (!child.fd) return child.error_number;
  path_ = path_of(name);
  levels_.push_back({std::move(child.fd), name.size()});
  if (levels_.size() > kOpenLevels) levels_[levels_.size() - 1 - kOpenLevels].fd.reset();
  return 0;
}

void DirectoryChain::pop() {
  const std::size_t name = levels_.back().name_size;
  levels_.pop_back();
  path_.resize(levels_.empty() ? 0 : path_.size() - name - 1);
}

Result<base::UniqueFd> DirectoryChain::open_below(std::string_view path) const {
  base::BeneathResult current = base::open_in_volume(*root_, ".", kFlags);
  for (std::string_view rest = path; current.fd && !rest.empty();) {
    std::size_t end = rest.size();
    if (end > kHop) end = rest.rfind('/', kHop);
    const std::string hop(rest.substr(0, end));
    rest.remove_prefix(end == rest.size() ? end : end + 1);
    current = base::open_in_volume(*current.fd, hop.c_str(), kFlags);
  }
  if (!current.fd) return base::system_error(current.error_number, "open directory " + shown(path));
  return std::move(current.fd);
}

}  // namespace cove::snapshot

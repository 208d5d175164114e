/// DirectoryTrail: the real directories from the root to where a walk stands.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// Opens the directory `path`, relative and of any length, beneath `root` and through no link;
/// O_PATH. Empty `path`: the root itself. An empty descriptor: errno says why.
base::UniqueFd open_directory_below(int root, std::string_view path);

/// Remembers every name and the descriptors of the innermost few; an outer one that is needed again
/// is opened again from the root, beneath it and through no link. So the depth of a path costs
/// memory for its names, but no descriptors.
class DirectoryTrail {
 public:
  /// `root` is borrowed.
  explicit DirectoryTrail(int root) : root_(root) {}

  /// Goes into the directory `name` of where it stands, open as `directory`.
  void enter(std::string name, base::UniqueFd directory);

  /// Goes back to the parent. REQUIRES: depth() > 0.
  void leave();

  /// Goes back to the root.
  void reset();

  std::size_t depth() const noexcept { return names_.size(); }

  /// The names joined by `/`; empty at the root.
  std::string text() const;

  /// A descriptor of where it stands, borrowed until the next change; or the system's error number
  /// where the directory is not there any more.
  struct Here {
    int fd = -1;
    int error_number = 0;
  };
  Here here();

 private:
  struct Held {
    std::size_t depth = 0;
    base::UniqueFd fd;
  };

  void hold(base::UniqueFd directory);

  int root_;
  std::vector<std::string> names_;
  std::deque<Held> held_;  // by growing depth, the last at most as deep as names_
};

}  // namespace cove::agent

/// PathWalk: resolves a path step by step, where one openat2 cannot say what the path rule wants.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include <cove/result.hpp>

#include "agent/files/directory_trail.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// Where a path leads. No part of it was opened by more than one name at a time.
struct Place {
  base::UniqueFd parent;  ///< O_PATH, of the directory that has `name`; empty where `name` is
  std::string name;       ///< empty where the path ends in the root, `.` or `..` or with a `/`
  base::UniqueFd object;  ///< O_PATH, of what is there itself; empty = nothing is there
  struct stat facts{};    ///< of `object`
  std::string below;      ///< the real path below the root; empty for the root
};

struct WalkRules {
  bool follow_last = true;          ///< a link at the end is followed
  bool create_directories = false;  ///< missing ones on the way are made, 0755
  bool durable = false;             ///< each one made is on the disk before the walk goes on
};

/// Every step opens one name in a directory that is held open, without following; a link's target
/// is read and walked in its turn. A walk that climbs above the root opens nothing there: it counts
/// how far out it is, and comes back only by the root's own names.
class PathWalk {
 public:
  /// `root` is borrowed; `root_path` is what the root is called, absolute; `shown` is the path as
  /// errors name it.
  PathWalk(int root, std::string_view root_path, std::string shown);

  /// Walks `text` from where the last walk ended, the root at first; from the top where it is
  /// absolute. Errors: kPathEscape; kNotFound - a directory on the way; kFailedPrecondition -
  /// something else on the way; kInvalidArgument - more than 40 links; kConflict - it changes all
  /// the time.
  Result<Place> go(std::string text, const WalkRules& rules);

 private:
  struct Seen {
    base::UniqueFd fd;
    struct stat facts{};
    int error_number = 0;
  };

  std::string take_name();
  bool at_last_name() const noexcept { return position_ == rest_.size(); }
  void climb();
  void start_at_top();
  Result<std::optional<Place>> step(const std::string& name, const WalkRules& rules);
  Result<Seen> look_or_create(const std::string& name, const WalkRules& rules);
  Result<std::optional<Place>> take_in(const std::string& name, Seen seen, const WalkRules& rules);
  Result<void> follow(int link);
  Result<void> make_directory(int parent, const std::string& name, const WalkRules& rules) const;
  Result<Place> stand();
  Result<int> here();
  std::string below(const std::string& name) const;
  Error failed(int error_number) const;
  Error escape() const;

  std::vector<std::string> root_names_;
  std::string root_path_;
  std::string shown_;
  DirectoryTrail trail_;
  std::size_t above_ = 0;  // how many of the root's names lie between here and the root
  std::string rest_;       // what is left to walk, from position_
  std::size_t position_ = 0;
  int links_ = 0;
};

}  // namespace cove::agent

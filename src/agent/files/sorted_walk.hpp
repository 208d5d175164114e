/// SortedWalk: goes through a directory tree in order, with memory that does not grow with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <cove/result.hpp>

#include "agent/files/directory_trail.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// Entries in the order of their names' bytes, each directory before what is in it, and said again
/// when it is left. No link is followed. Entries that vanish meanwhile are left out.
class SortedWalk {
 public:
  struct Options {
    std::uint32_t depth = 0;   ///< levels of directories: 1 = the top's own entries; 0 = all
    std::string after;         ///< a path that an earlier walk gave: go on behind it
    std::size_t chunk = 4096;  ///< names of one directory to keep, at least 1
  };

  enum class Kind : std::uint8_t { kEntry, kLeave, kEnd };

  struct Step {
    Kind kind = Kind::kEnd;
    std::string path;         ///< below the top
    std::string name;         ///< the last part of it
    int directory = -1;       ///< of an entry: O_PATH, what holds it; borrowed until the next step
    struct stat facts{};      ///< of an entry
    bool enters = false;      ///< of an entry: what is in it comes next, and then kLeave
    bool unreadable = false;  ///< of an entry: a directory that would be entered, but cannot be
  };

  /// `top`: a directory, open for reading or O_PATH. `shown`: its path as errors name it.
  SortedWalk(base::UniqueFd top, Options options, std::string shown);

  /// kInvalidArgument: `after` is no path of a walk. Called once, first.
  Result<void> start();

  /// The next step; kEnd stays.
  Result<Step> next();

  /// Does not enter the directory that was just given.
  void skip() { entering_ = {}; }

 private:
  struct Level {
    std::vector<std::string> names;  // sorted, from `position` on still to come
    std::size_t position = 0;
    std::string last;       // the name that was given last
    bool is_all = false;    // no others follow `names`
    base::UniqueFd unread;  // the directory, open for its first reading
  };

  bool may_enter() const noexcept { return depth_ == 0 || levels_.size() < depth_; }
  Result<void> refill(Level& level);
  void drop_outer_names();
  Result<bool> look(Step& step);
  Result<void> prepare_entering(Step& step);
  void enter();
  Step leave();

  base::UniqueFd top_;
  std::uint32_t depth_;
  std::string after_;
  std::size_t chunk_;
  std::string shown_;
  DirectoryTrail trail_;
  std::vector<Level> levels_;
  struct Entering {
    std::string name;
    base::UniqueFd fd;
    base::UniqueFd readable;
  };
  Entering entering_;  // the directory that was just given and comes next
};

}  // namespace cove::agent

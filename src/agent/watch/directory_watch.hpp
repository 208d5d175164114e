/// DirectoryWatch: inotify on a directory and, where asked for, on all below it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <cove/file_watch.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

struct inotify_event;

namespace cove::agent {

/// One thread at a time. No link is followed. Between the calls no directory is held open: the
/// kernel tells of the end of one only when nobody holds it.
class DirectoryWatch {
 public:
  /// Opens the directory, O_PATH, each time it is needed.
  using Opener = std::function<Result<base::UniqueFd>()>;

  /// `shown`: its path as errors name it.
  DirectoryWatch(Opener opener, const WatchOptions& options, std::string shown);

  /// Watches what is there now. Called once, first. Errors: kQuotaExceeded; kInvalidArgument - the
  /// options; kUnsupported - the system has no inotify or no /proc.
  Result<void> start();

  /// Readable when there is something to read.
  int fd() const noexcept { return *inotify_; }

  /// The changes that wait, at most some thousand; empty where there are none. kNotFound: the
  /// watched directory is gone. kQuotaExceeded: new directories are more than allowed.
  Result<std::vector<FileEvent>> read();

 private:
  struct Node {
    int parent = -1;  // its watch; of the top itself -1
    std::string name;
    std::map<std::string, int> children;
  };
  /// The first half of a move, which may be all that comes.
  struct Departure {
    std::uint32_t cookie = 0;
    std::string path;
    bool is_directory = false;
    std::optional<int> watch;  // of the directory that moved
    bool is_temporary = false;
  };

  Result<std::optional<int>> add(int directory, int parent, const std::string& name);
  Result<void> add_tree(int watch, bool tell_all);
  Result<void> add_child(int watch, const std::string& name);
  Result<void> take(const inotify_event& event, const std::string& name);
  Result<void> take_named(const inotify_event& event, int watch, const std::string& name);
  Result<void> appeared(int watch, const std::string& name, bool is_directory);
  Result<void> arrived(const inotify_event& event, int watch, const std::string& name);
  void settle_departure();
  void forget(int watch);
  void detach(int watch);
  std::string path_of(int watch, const std::string& name = {}) const;
  Result<void> watch_anew();
  base::UniqueFd open(int watch);
  bool is_scratch(int watch, const std::string& name);
  void tell(FileChange change, std::string path, bool is_directory, std::string old_path = {});

  Opener opener_;
  base::UniqueFd top_;  // during a call, once it was needed
  struct stat top_facts_{};
  WatchOptions options_;
  std::string shown_;
  base::UniqueFd inotify_;
  int top_watch_ = -1;
  std::map<int, Node> nodes_;
  std::optional<Departure> departure_;
  std::vector<FileEvent> events_;
  bool top_is_gone_ = false;
};

}  // namespace cove::agent

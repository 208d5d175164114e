#include "agent/watch/directory_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/files/directory_stream.hpp"
#include "agent/files/directory_trail.hpp"
#include "agent/files/temporary_file.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr std::uint32_t kMask = IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM |
                                IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kMostDirectories = 100'000;
constexpr std::size_t kMostEvents = 4096;  // of one read, but for what is in new directories
constexpr std::size_t kMostHeld = 32'768;
constexpr int kDirectoryFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool is_gone(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP;
}

bool is_directory(int parent, const DirectoryStream::Entry& entry) {
  if (entry.type != DT_UNKNOWN) return entry.type == DT_DIR;
  struct stat facts{};
  const char* const name = entry.name.data();  // NUL follows: the system gave it
  return ::fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

DirectoryWatch::DirectoryWatch(Opener opener, const WatchOptions& options, std::string shown)
    : opener_(std::move(opener)), options_(options), shown_(std::move(shown)) {}

Result<void> DirectoryWatch::start() {
  if (options_.max_directories == 0 || options_.max_directories > kMostDirectories) {
    return Error(ErrorCode::kInvalidArgument,
                 "max_directories is 1 to 100000, not " + std::to_string(options_.max_directories));
  }
  inotify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_) {
    return base::system_error(errno, "watch " + shown_ + " (fs.inotify.max_user_instances)");
  }
  COVE_TRY(top_, opener_());
  if (::fstat(*top_, &top_facts_) != 0) return base::system_error(errno, "watch " + shown_);
  COVE_TRY(const auto watch, add(*top_, -1, ""));
  if (!watch) return Error(ErrorCode::kNotFound, shown_ + " does not exist any more");
  top_watch_ = *watch;
  if (options_.recursive) COVE_TRY_VOID(add_tree(top_watch_, false));
  top_.reset();
  return ok();
}

/// Watches a directory that is held open, O_PATH. None: it is gone or may not be read.
Result<std::optional<int>> DirectoryWatch::add(int directory, int parent, const std::string& name) {
  if (nodes_.size() >= options_.max_directories) {
    return Error(ErrorCode::kQuotaExceeded,
                 shown_ + " has more than " + std::to_string(options_.max_directories) +
                     " directories to watch: watch a part of it, or raise max_directories");
  }
  // SAFETY: the magic link leads to the very directory that is held open.
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  const int watch = ::inotify_add_watch(*inotify_, link.c_str(), kMask);
  if (watch >= 0) {
    detach(watch);  // where it was watched under another name
    Node& node = nodes_[watch];
    node.parent = parent;
    node.name = name;
    if (parent >= 0) nodes_[parent].children[name] = watch;
    return std::optional<int>(watch);
  }
  if (errno == ENOSPC) {
    return Error(ErrorCode::kQuotaExceeded,
                 "the system watches no more directories for this user "
                 "(fs.inotify.max_user_watches): watch a part of " +
                     shown_);
  }
  if (errno == ENOENT && ::access("/proc/self/fd", F_OK) != 0) {
    return Error(ErrorCode::kUnsupported, "watching needs /proc, which is not there");
  }
  if (parent >= 0 && (is_gone(errno) || errno == EACCES)) return std::optional<int>();
  return base::system_error(errno, "watch " + shown_);
}

/// Watches what is below a directory that is watched already; `tell`: it is new to the caller.
Result<void> DirectoryWatch::add_tree(int watch, bool tell_all) {
  std::vector<int> open_ends{watch};
  while (!open_ends.empty()) {
    const int parent = open_ends.back();
    open_ends.pop_back();
    const base::UniqueFd place = open(parent);
    DirectoryStream stream(
        base::UniqueFd(place ? ::openat(*place, ".", O_RDONLY | kDirectoryFlags) : -1));
    if (!stream) continue;  // gone or unreadable
    for (;;) {
      const DirectoryStream::Entry entry = stream.next();
      if (entry.error_number != 0) return base::system_error(entry.error_number, "watch " + shown_);
      if (entry.name.empty()) break;
      const std::string name(entry.name);
      const bool directory = is_directory(stream.fd(), entry);
      if (tell_all) tell(FileChange::kCreated, path_of(parent, name), directory);
      if (!directory || !options_.recursive || nodes_[parent].children.contains(name)) continue;
      const base::UniqueFd child(::openat(stream.fd(), name.c_str(), O_PATH | kDirectoryFlags));
      if (!child) continue;
      COVE_TRY(const auto added, add(*child, parent, name));
      if (added) open_ends.push_back(*added);
    }
  }
  return ok();
}

Result<std::vector<FileEvent>> DirectoryWatch::read() {
  alignas(inotify_event) std::array<char, 64 * 1024> buffer;
  while (events_.size() < kMostEvents) {
    const ssize_t bytes = ::read(*inotify_, buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno != EAGAIN) return base::system_error(errno, "watch " + shown_);
    if (bytes <= 0) break;
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const std::string name(event.len > 0 ? buffer.data() + at + sizeof event : "");
      at += static_cast<ssize_t>(sizeof event + event.len);
      COVE_TRY_VOID(take(event, name));
    }
  }
  // The second half of a move follows the first at once: what did not come is not coming.
  settle_departure();
  top_.reset();
  if (events_.empty() && top_is_gone_) {
    return Error(ErrorCode::kNotFound, shown_ + " does not exist any more");
  }
  return std::exchange(events_, {});
}

Result<void> DirectoryWatch::take(const inotify_event& event, const std::string& name) {
  const bool pairs =
      departure_ && (event.mask & IN_MOVED_TO) != 0 && event.cookie == departure_->cookie;
  if (!pairs) settle_departure();
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    tell(FileChange::kOverflow, "", false);
    return options_.recursive && !top_is_gone_ ? watch_anew() : ok();
  }
  const auto node = nodes_.find(event.wd);
  if (node == nodes_.end()) return ok();
  if ((event.mask & IN_IGNORED) != 0) {
    if (event.wd == top_watch_) top_is_gone_ = true;
    forget(event.wd);
    return ok();
  }
  if (!name.empty()) return take_named(event, event.wd, name);
  if (event.wd != top_watch_) return ok();  // the parent's watch tells of it
  if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0) {
    top_is_gone_ = true;
    tell(FileChange::kRemoved, "", true);
  } else if ((event.mask & IN_ATTRIB) != 0) {
    tell(FileChange::kAttributes, "", true);
  }
  return ok();
}

/// After events were lost nobody knows which directories are still what they were.
Result<void> DirectoryWatch::watch_anew() {
  for (const auto& [name, child] : std::map(nodes_[top_watch_].children)) forget(child);
  return add_tree(top_watch_, false);
}

Result<void> DirectoryWatch::take_named(const inotify_event& event, int watch,
                                        const std::string& name) {
  const bool directory = (event.mask & IN_ISDIR) != 0;
  if ((event.mask & IN_MOVED_TO) != 0) return arrived(event, watch, name);
  if ((event.mask & IN_MOVED_FROM) != 0) {
    const auto& children = nodes_[watch].children;
    const auto child = children.find(name);
    departure_ =
        Departure{event.cookie, path_of(watch, name), directory, {}, is_temporary_name(name)};
    if (child != children.end()) departure_->watch = child->second;
  } else if (!directory && is_scratch(watch, name)) {
    return ok();
  } else if ((event.mask & IN_CREATE) != 0) {
    return appeared(watch, name, directory);
  } else if ((event.mask & IN_DELETE) != 0) {
    tell(FileChange::kRemoved, path_of(watch, name), directory);
  } else if ((event.mask & IN_MODIFY) != 0) {
    tell(FileChange::kModified, path_of(watch, name), directory);
  } else if ((event.mask & IN_ATTRIB) != 0) {
    tell(FileChange::kAttributes, path_of(watch, name), directory);
  }
  return ok();
}

/// What a write makes before the file has its name. One that was opened with O_TMPFILE is in no
/// directory, but the kernel tells of writes to it as of a file `#<inode>`.
bool DirectoryWatch::is_scratch(int watch, const std::string& name) {
  if (is_temporary_name(name)) return true;
  const bool could_be =
      name.starts_with('#') && name.find_first_not_of("0123456789", 1) == std::string::npos;
  if (!could_be) return false;
  const base::UniqueFd directory = open(watch);
  struct stat facts{};
  return directory && ::fstatat(*directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 &&
         errno == ENOENT;
}

Result<void> DirectoryWatch::appeared(int watch, const std::string& name, bool directory) {
  tell(FileChange::kCreated, path_of(watch, name), directory);
  return directory ? add_child(watch, name) : ok();
}

/// Watches a directory that is new to us, and tells of what was put into it before.
Result<void> DirectoryWatch::add_child(int watch, const std::string& name) {
  if (!options_.recursive || nodes_[watch].children.contains(name)) return ok();
  const base::UniqueFd parent = open(watch);
  const base::UniqueFd child(parent ? ::openat(*parent, name.c_str(), O_PATH | kDirectoryFlags)
                                    : -1);
  if (!child) return ok();  // gone already
  COVE_TRY(const auto added, add(*child, watch, name));
  return added ? add_tree(*added, true) : ok();
}

Result<void> DirectoryWatch::arrived(const inotify_event& event, int watch,
                                     const std::string& name) {
  const bool directory = (event.mask & IN_ISDIR) != 0;
  if (!departure_) return appeared(watch, name, directory);
  const Departure departure = *std::exchange(departure_, std::nullopt);
  if (departure.is_temporary && !directory) {
    tell(FileChange::kModified, path_of(watch, name), false);  // a write took the place of a file
    return ok();
  }
  tell(FileChange::kMoved, path_of(watch, name), directory, departure.path);
  if (!departure.watch) return directory ? add_child(watch, name) : ok();
  detach(*departure.watch);
  nodes_[*departure.watch].parent = watch;
  nodes_[*departure.watch].name = name;
  nodes_[watch].children[name] = *departure.watch;
  return ok();
}

/// What departed went out of what is watched.
void DirectoryWatch::settle_departure() {
  if (!departure_) return;
  const Departure departure = *std::exchange(departure_, std::nullopt);
  if (departure.is_temporary && !departure.is_directory) return;
  tell(FileChange::kRemoved, departure.path, departure.is_directory);
  if (departure.watch) forget(*departure.watch);
}

/// Ends the watch of a directory and of all below it.
void DirectoryWatch::forget(int watch) {
  detach(watch);
  std::vector<int> open_ends{watch};
  while (!open_ends.empty()) {
    const int next = open_ends.back();
    open_ends.pop_back();
    const auto node = nodes_.find(next);
    if (node == nodes_.end()) continue;
    for (const auto& [name, child] : node->second.children) open_ends.push_back(child);
    nodes_.erase(node);
    ::inotify_rm_watch(*inotify_, next);
  }
}

void DirectoryWatch::detach(int watch) {
  const auto node = nodes_.find(watch);
  if (node == nodes_.end() || node->second.parent < 0) return;
  const auto parent = nodes_.find(node->second.parent);
  if (parent == nodes_.end()) return;
  const auto place = parent->second.children.find(node->second.name);
  if (place != parent->second.children.end() && place->second == watch) {
    parent->second.children.erase(place);
  }
}

std::string DirectoryWatch::path_of(int watch, const std::string& name) const {
  std::vector<const std::string*> names;
  if (!name.empty()) names.push_back(&name);
  for (auto node = nodes_.find(watch); node != nodes_.end() && node->second.parent >= 0;
       node = nodes_.find(node->second.parent)) {
    names.push_back(&node->second.name);
  }
  std::string path;
  for (auto part = names.rbegin(); part != names.rend(); ++part) {
    path += (path.empty() ? "" : "/") + **part;
  }
  return path;
}

/// Nothing where it is gone, or the top is another directory by now.
base::UniqueFd DirectoryWatch::open(int watch) {
  if (!top_) {
    Result<base::UniqueFd> top = opener_();
    struct stat facts{};
    if (!top || ::fstat(**top, &facts) != 0 || facts.st_ino != top_facts_.st_ino ||
        facts.st_dev != top_facts_.st_dev) {
      return {};
    }
    top_ = *std::move(top);
  }
  return open_directory_below(*top_, path_of(watch));
}

void DirectoryWatch::tell(FileChange change, std::string path, bool directory,
                          std::string old_path) {
  if (events_.size() >= kMostHeld) events_ = {FileEvent{}};  // an overflow
  // A file that is written all the time is one event until it is fetched.
  if (!events_.empty()) {
    const FileEvent& last = events_.back();
    const bool again = last.change == change && last.path == path &&
                       (change == FileChange::kModified || change == FileChange::kOverflow);
    if (again) return;
  }
  events_.push_back({change, std::move(path), std::move(old_path), directory});
}

}  // namespace cove::agent

#include "agent/trees/tree_unpacker.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/files/file_facts.hpp"
#include "agent/files/mode_change.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMaxDepth = 65'536;
constexpr mode_t kDirectoryMode = 0755;
constexpr int kDirectoryFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

timespec modified_of(const base::TarEntry& entry) {
  return {static_cast<time_t>(entry.seconds), entry.nanoseconds};
}

bool set_modified(int fd, const timespec& modified) {
  const timespec times[] = {{0, UTIME_OMIT}, modified};
  return ::futimens(fd, times) == 0;
}

}  // namespace

TreeUnpacker::TreeUnpacker(base::UniqueFd top, std::string shown, FileLocks& locks)
    : top_(std::move(top)),
      shown_(std::move(shown)),
      locks_(locks),
      reader_(*this),
      trail_(*top_) {}

TreeUnpacker::~TreeUnpacker() {
  file_.reset();
  // Directories get their modes back also where the archive was bad.
  while (!levels_.empty()) static_cast<void>(leave());
}

Result<TreeCounts> TreeUnpacker::finish() {
  COVE_TRY_VOID(reader_.finish());
  while (!levels_.empty()) COVE_TRY_VOID(leave());
  return counts_;
}

Result<void> TreeUnpacker::entry(const base::TarEntry& entry) {
  entry_ = entry;
  entry_path_ = base::quoted(entry.path) + " of the archive";
  COVE_TRY(const auto names, names_of(entry.path));
  if (names.empty()) {  // the directory itself
    if (entry.type == base::TarType::kDirectory) return ok();
    return Error(ErrorCode::kInvalidArgument, entry_path_ + " has no name");
  }
  ++counts_.entries;
  if (entry.type == base::TarType::kDirectory) {
    COVE_TRY_VOID(go_to(names, names.size()));
    levels_.back().mode = entry.mode;
    levels_.back().modified = modified_of(entry);
    return ok();
  }
  COVE_TRY_VOID(go_to(names, names.size() - 1));
  name_ = names.back();
  COVE_TRY(const int directory, here());
  COVE_TRY_VOID(check_replaceable(directory));
  if (entry.type == base::TarType::kSymlink) return place_link(directory, entry);
  if (entry.type == base::TarType::kHardLink) return place_hard_link(directory, entry);
  file_.emplace(directory);
  const int error_number = file_->create();
  return error_number == 0 ? ok() : Result<void>(failed(error_number));
}

Result<void> TreeUnpacker::data(ByteView bytes) {
  counts_.bytes += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_->fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ok();
}

Result<void> TreeUnpacker::entry_end() {
  if (!file_) return ok();
  COVE_TRY(const int directory, here());
  int error_number = 0;
  if (::fchmod(file_->fd(), entry_.mode) != 0 || !set_modified(file_->fd(), modified_of(entry_))) {
    error_number = errno;
  }
  const FileLocks::Lock lock = locks_.hold(directory, name_);
  if (error_number == 0) error_number = file_->place_at(name_);
  file_.reset();
  return error_number == 0 ? ok() : Result<void>(failed(error_number));
}

Result<std::vector<std::string>> TreeUnpacker::names_of(const std::string& path) const {
  const auto escape = [&] {
    return Error(ErrorCode::kPathEscape,
                 entry_path_ + " leads out of " + shown_ + ": " + base::quoted(path));
  };
  if (path.starts_with('/')) return escape();
  std::vector<std::string> names;
  std::string_view rest(path);
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") return escape();
    if (name.size() > NAME_MAX || name.find('\0') != std::string_view::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   "a name in " + entry_path_ + " has more than 255 bytes or a NUL");
    }
    names.emplace_back(name);
  }
  if (names.size() > kMaxDepth) {
    return Error(ErrorCode::kTooLarge, entry_path_ + " is deeper than 65536 directories");
  }
  return names;
}

/// Leaves what is not on the way to the first `depth` names, and enters the rest.
Result<void> TreeUnpacker::go_to(const std::vector<std::string>& names, std::size_t depth) {
  std::size_t common = 0;
  while (common < std::min(depth, levels_.size()) && levels_[common].name == names[common]) {
    ++common;
  }
  while (levels_.size() > common) COVE_TRY_VOID(leave());
  while (levels_.size() < depth) COVE_TRY_VOID(enter(names[levels_.size()]));
  return ok();
}

/// Enters a directory, which is made where it is missing, and sees to it that it can be written to.
Result<void> TreeUnpacker::enter(const std::string& name) {
  COVE_TRY(const int directory, here());
  if (::mkdirat(directory, name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    return failed(errno);
  }
  // SAFETY: one name of a directory that is held open, no link followed.
  base::UniqueFd fd(::openat(directory, name.c_str(), O_PATH | kDirectoryFlags));
  struct stat facts{};
  if (!fd && (errno == ENOTDIR || errno == ELOOP)) {
    const bool there = ::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && !S_ISLNK(facts.st_mode)) {
      return wrong_kind(base::quoted(name) + " on the way to " + entry_path_, facts.st_mode,
                        "a directory");
    }
    return Error(ErrorCode::kPathEscape, entry_path_ + " would be written through the link " +
                                             base::quoted(name) + ", which is never followed");
  }
  if (!fd || ::fstat(*fd, &facts) != 0) return failed(errno);
  Level level{name, {}, {}};
  if ((facts.st_mode & S_IRWXU) != S_IRWXU) {
    level.mode = facts.st_mode & 07777U;
    if (!change_mode(*fd, (facts.st_mode & 07777U) | S_IRWXU)) return failed(errno);
  }
  trail_.enter(name, std::move(fd));
  levels_.push_back(std::move(level));
  return ok();
}

Result<void> TreeUnpacker::leave() {
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  if (!level.mode && !level.modified) {
    trail_.leave();
    return ok();
  }
  const Result<int> directory = here();
  base::UniqueFd readable;
  // SAFETY: `.` of a directory that is held open leads nowhere else.
  if (directory) readable.reset(::openat(*directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error_number = errno;
  trail_.leave();
  if (!directory) return directory.error();
  if (!readable) return failed(error_number);
  if ((level.modified && !set_modified(*readable, *level.modified)) ||
      (level.mode && ::fchmod(*readable, *level.mode) != 0)) {
    return failed(errno);
  }
  return ok();
}

Result<int> TreeUnpacker::here() {
  const DirectoryTrail::Here here = trail_.here();
  if (here.fd >= 0) return here.fd;
  return Error(ErrorCode::kConflict, shown_ + " was changed while the archive was placed below it");
}

Result<void> TreeUnpacker::check_replaceable(int directory) const {
  struct stat facts{};
  if (::fstatat(directory, name_.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode)) {
    return ok();
  }
  return wrong_kind("what is in the place of " + entry_path_, facts.st_mode, "a file");
}

Result<void> TreeUnpacker::place_link(int directory, const base::TarEntry& entry) {
  const std::string temporary = temporary_name();
  if (entry.target.empty() || entry.target.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, entry_path_ + " is a link without a target");
  }
  if (::symlinkat(entry.target.c_str(), directory, temporary.c_str()) != 0) return failed(errno);
  const timespec times[] = {{0, UTIME_OMIT}, modified_of(entry)};
  // A link's own time is not worth an error.
  static_cast<void>(::utimensat(directory, temporary.c_str(), times, AT_SYMLINK_NOFOLLOW));
  return rename(directory, temporary);
}

Result<void> TreeUnpacker::place_hard_link(int directory, const base::TarEntry& entry) {
  COVE_TRY(auto names, names_of(entry.target));
  if (names.empty()) {
    return Error(ErrorCode::kInvalidArgument, entry_path_ + " is a link without a target");
  }
  const std::string last = std::move(names.back());
  names.pop_back();
  std::string parent_path;
  for (const std::string& name : names) parent_path += (parent_path.empty() ? "" : "/") + name;
  const base::UniqueFd parent = open_directory_below(*top_, parent_path);
  struct stat facts{};
  if (!parent || ::fstatat(*parent, last.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(facts.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, entry_path_ + " is a link to " +
                                                  base::quoted(entry.target) +
                                                  ", which is no file of the archive");
  }
  const std::string temporary = temporary_name();
  if (::linkat(*parent, last.c_str(), directory, temporary.c_str(), 0) != 0) return failed(errno);
  return rename(directory, temporary);
}

Result<void> TreeUnpacker::rename(int directory, const std::string& temporary) {
  const FileLocks::Lock lock = locks_.hold(directory, name_);
  const bool renamed = ::renameat(directory, temporary.c_str(), directory, name_.c_str()) == 0;
  const int error_number = renamed ? 0 : errno;
  // Two names of one file: the kernel leaves both, and calls it a success.
  ::unlinkat(directory, temporary.c_str(), 0);
  return renamed ? ok() : Result<void>(failed(error_number));
}

Error TreeUnpacker::failed(int error_number) const {
  return base::system_error(error_number, "place " + entry_path_ + " in " + shown_);
}

}  // namespace cove::agent

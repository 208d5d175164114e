#include "agent/files/tree_removal.hpp"

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/directory_stream.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kOpenLevels = 32;
constexpr std::size_t kMaxDepth = 65'536;
constexpr int kMaxPasses = 16;  // over one directory that others fill again
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

enum class Removed : std::uint8_t { kGone, kFullDirectory, kFailed };

/// Removes one name whatever it is; errno says why it failed.
Removed unlink_any(int directory, const char* name, bool as_directory) {
  for (int swap = 0; swap < kMaxPasses; ++swap) {
    if (::unlinkat(directory, name, as_directory ? AT_REMOVEDIR : 0) == 0) return Removed::kGone;
    if (errno == ENOENT) return Removed::kGone;
    if (as_directory && (errno == ENOTEMPTY || errno == EEXIST)) return Removed::kFullDirectory;
    if (errno != (as_directory ? ENOTDIR : EISDIR)) return Removed::kFailed;
    as_directory = !as_directory;
  }
  return Removed::kFailed;
}

class TreeRemoval {
 public:
  TreeRemoval(int parent, const std::string& shown) : parent_(parent), shown_(shown) {}

  Result<void> run(const std::string& name);

 private:
  struct Level {
    std::string name;
    dev_t device = 0;
    ino_t inode = 0;
    int passes = 1;
    std::optional<DirectoryStream> stream;  // of the innermost levels only
  };

  Result<void> enter(int directory, std::string name);
  Result<void> empty_innermost();
  Result<void> leave_innermost();
  Result<int> parent_of_innermost();
  Error failed(int error_number, std::string_view name) const;
  Error changed() const { return {ErrorCode::kConflict, shown_ + " was changed while removed"}; }

  int parent_;
  const std::string& shown_;
  std::vector<Level> levels_;
  bool found_inner_ = false;  // the innermost directory was just entered
};

Result<void> TreeRemoval::run(const std::string& name) {
  COVE_TRY_VOID(enter(parent_, name));
  while (!levels_.empty()) {
    found_inner_ = false;
    COVE_TRY_VOID(empty_innermost());
    if (!found_inner_) COVE_TRY_VOID(leave_innermost());
  }
  return ok();
}

/// Makes the directory the innermost level; one that is gone or something else by now is left for
/// the next pass.
Result<void> TreeRemoval::enter(int directory, std::string name) {
  if (levels_.size() == kMaxDepth) {
    return Error(ErrorCode::kTooLarge, shown_ + " is deeper than 65536 directories");
  }
  // SAFETY: one name of a directory that is held open, no link followed.
  base::UniqueFd fd(::openat(directory, name.c_str(), kDirectoryFlags));
  if (!fd && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return ok();
  struct stat facts{};
  if (!fd || ::fstat(*fd, &facts) != 0) return failed(errno, name);
  Level level{std::move(name), facts.st_dev, facts.st_ino, 1, {}};
  level.stream.emplace(std::move(fd));
  if (!*level.stream) return failed(errno, level.name);
  levels_.push_back(std::move(level));
  if (levels_.size() > kOpenLevels) levels_[levels_.size() - 1 - kOpenLevels].stream.reset();
  found_inner_ = true;
  return ok();
}

/// Removes the entries of the innermost directory until one is a directory with something in it,
/// which becomes the innermost.
Result<void> TreeRemoval::empty_innermost() {
  DirectoryStream& stream = *levels_.back().stream;
  for (;;) {
    const DirectoryStream::Entry entry = stream.next();
    if (entry.error_number != 0) return failed(entry.error_number, levels_.back().name);
    if (entry.name.empty()) return ok();
    switch (unlink_any(stream.fd(), entry.name.data(), entry.type == DT_DIR)) {
      case Removed::kGone: break;
      case Removed::kFailed: return failed(errno, entry.name);
      case Removed::kFullDirectory:
        COVE_TRY_VOID(enter(stream.fd(), std::string(entry.name)));
        if (found_inner_) return ok();
        break;
    }
  }
}

Result<void> TreeRemoval::leave_innermost() {
  COVE_TRY(const int parent, parent_of_innermost());
  Level& level = levels_.back();
  if (::unlinkat(parent, level.name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
    levels_.pop_back();
    return ok();
  }
  if (errno == ENOTDIR) return changed();
  if (errno != ENOTEMPTY && errno != EEXIST) return failed(errno, level.name);
  if (++level.passes > kMaxPasses) {
    return Error(ErrorCode::kConflict, "others write into " + shown_ + " while it is removed");
  }
  level.stream->rewind();
  return ok();
}

Result<int> TreeRemoval::parent_of_innermost() {
  if (levels_.size() == 1) return parent_;
  Level& outer = levels_[levels_.size() - 2];
  if (outer.stream) return outer.stream->fd();
  // SAFETY: `..` may lead anywhere once the directory was moved: it counts only where it is the
  // directory that this walk came through.
  base::UniqueFd fd(::openat(levels_.back().stream->fd(), "..", kDirectoryFlags));
  struct stat facts{};
  if (!fd || ::fstat(*fd, &facts) != 0) return failed(errno, outer.name);
  if (facts.st_dev != outer.device || facts.st_ino != outer.inode) return changed();
  outer.stream.emplace(std::move(fd));
  if (!*outer.stream) return failed(errno, outer.name);
  return outer.stream->fd();
}

Error TreeRemoval::failed(int error_number, std::string_view name) const {
  return base::system_error(error_number, "remove " + base::quoted(name) + " in " + shown_);
}

}  // namespace

Result<void> remove_entry(int parent, const std::string& name, const std::string& shown) {
  struct stat facts{};
  if (::fstatat(parent, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Error(ErrorCode::kNotFound, shown + " does not exist");
    return base::system_error(errno, "remove " + shown);
  }
  if (::unlinkat(parent, name.c_str(), S_ISDIR(facts.st_mode) ? AT_REMOVEDIR : 0) == 0) return ok();
  if (errno == ENOENT) return Error(ErrorCode::kNotFound, shown + " does not exist");
  if (errno == ENOTEMPTY || errno == EEXIST) {
    return Error(ErrorCode::kFailedPrecondition,
                 shown + " is a directory with something in it; remove it recursively");
  }
  return base::system_error(errno, "remove " + shown);
}

Result<void> remove_tree(int parent, const std::string& name, const std::string& shown) {
  struct stat facts{};
  if (::fstatat(parent, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISDIR(facts.st_mode)) {
    return remove_entry(parent, name, shown);
  }
  return TreeRemoval(parent, shown).run(name);
}

}  // namespace cove::agent

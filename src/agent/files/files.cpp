#include "agent/files.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/edits/file_editor.hpp"
#include "agent/edits/text_edits.hpp"
#include "agent/files/directory_listing.hpp"
#include "agent/files/file_facts.hpp"
#include "agent/files/file_locks.hpp"
#include "agent/files/file_move.hpp"
#include "agent/files/file_writer.hpp"
#include "agent/files/line_reader.hpp"
#include "agent/files/mode_change.hpp"
#include "agent/files/path_resolver.hpp"
#include "agent/files/readable_directory.hpp"
#include "agent/files/tree_removal.hpp"
#include "agent/trees/tree_copy.hpp"
#include "agent/trees/tree_packer.hpp"
#include "agent/trees/tree_unpacker.hpp"
#include "agent/watch/directory_watch.hpp"
#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

/// `path` without the slashes at its end; one is kept of `/`.
std::string without_slashes(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  return path.substr(0,
                     last == std::string::npos ? std::min<std::size_t>(path.size(), 1) : last + 1);
}

/// Keeps only the error that matters more than what else is wrong with a path.
Result<void> refuse_escape(const Result<Place>& place) {
  if (!place && place.error().code() == ErrorCode::kPathEscape) return place.error();
  return ok();
}

}  // namespace

/// Where one path is resolved, and by which rule.
class Files::Scope {
 public:
  Scope(int root, std::string root_path, GuestPath path)
      : root_(root), root_path_(std::move(root_path)), path_(std::move(path)) {}

  /// A directory of HOME.
  Scope(base::UniqueFd root, std::string root_path, GuestPath path)
      : Scope(*root, std::move(root_path), std::move(path)) {
    owned_ = std::move(root);
  }

  PathResolver resolver() const { return PathResolver(root_, root_path_); }
  const GuestPath& path() const noexcept { return path_; }
  std::string shown() const { return resolver().shown(path_); }

  /// A descriptor of the root that outlives this; empty where the process has no more.
  base::UniqueFd root() const { return base::UniqueFd(::fcntl(root_, F_DUPFD_CLOEXEC, 0)); }

  /// What Place::below is where places of all scopes are compared.
  std::string place_of(std::string below) const {
    return owned_ ? name_of(std::move(below)) : std::move(below);
  }

  /// What FileInfo::path is for a place below the root.
  std::string name_of(std::string below) const {
    if (!owned_) return below.empty() ? "." : std::move(below);
    return below.empty() ? root_path_ : root_path_ + "/" + below;
  }

 private:
  base::UniqueFd owned_;
  int root_;
  std::string root_path_;
  GuestPath path_;
};

Files::Files(base::UniqueFd root, std::string root_path, Home home)
    : root_(std::move(root)),
      root_path_(std::move(root_path)),
      home_(std::move(home)),
      locks_(std::make_unique<FileLocks>()) {}

Files::~Files() = default;

Result<Files::Scope> Files::scope_of(const GuestPath& path) const {
  const std::optional<ReadableDirectory> readable = find_readable(home_, path.path);
  if (!readable) return Scope(*root_, root_path_, path);
  // The directories may come and go, and HOME is the user's: it is looked for each time, and no
  // link is followed.
  base::BeneathResult opened = base::open_beneath(*home_.fd, readable->name.c_str(),
                                                  O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
  const std::string shown = base::quoted(readable->path);
  if (opened.error_number == ELOOP || opened.error_number == EXDEV) {
    return Error(ErrorCode::kPathEscape, shown + " is a link, which is not followed");
  }
  if (!opened.fd) return base::system_error(opened.error_number, "open " + shown);
  return Scope(std::move(opened.fd), readable->path, {"", readable->path + readable->rest});
}

Result<void> Files::check_writable(const GuestPath& path) const {
  if (!find_readable(home_, path.path)) return ok();
  return Error(ErrorCode::kPermissionDenied, base::quoted(path.path) + " may only be read");
}

Result<base::UniqueFd> Files::open_directory(const GuestPath& path) const {
  // O_PATH is enough to go there, and needs no permission to read.
  COVE_TRY(OpenedPath opened, PathResolver(*root_, root_path_).open(path, O_PATH | O_DIRECTORY));
  return std::move(opened.fd);
}

/// What is at `range` of an opened file.
Result<OpenedFile> Files::opened_file(const Scope& scope, OpenedPath opened,
                                      const ReadRange& range) {
  struct stat facts{};
  if (::fstat(*opened.fd, &facts) != 0) return base::system_error(errno, "read " + scope.shown());
  if (!S_ISREG(facts.st_mode)) return wrong_kind(scope.shown(), facts.st_mode, "a file");
  OpenedFile file;
  file.fd = std::move(opened.fd);
  file.info = info_of(facts, scope.name_of(std::move(opened.below)));
  const std::uint64_t start = std::min(range.offset, file.info.size);
  if (start > 0 && ::lseek(*file.fd, static_cast<off_t>(start), SEEK_SET) < 0) {
    return base::system_error(errno, "read " + scope.shown());
  }
  file.length = std::min(range.length.value_or(file.info.size), file.info.size - start);
  return file;
}

Result<OpenedFile> Files::open_file(const GuestPath& path, const ReadRange& range) const {
  COVE_TRY(const Scope scope, scope_of(path));
  COVE_TRY(OpenedPath opened, scope.resolver().open(scope.path(), O_RDONLY));
  return opened_file(scope, std::move(opened), range);
}

std::optional<OpenedFile> Files::open_cached_file(const GuestPath& path,
                                                  const ReadRange& range) const {
  if (find_readable(home_, path.path)) return std::nullopt;
  const Scope scope(*root_, root_path_, path);
  std::optional<OpenedPath> opened = scope.resolver().open_cached(scope.path(), O_RDONLY);
  if (!opened) return std::nullopt;
  Result<OpenedFile> file = opened_file(scope, *std::move(opened), range);
  if (!file) return std::nullopt;
  return *std::move(file);
}

Result<SearchedPlace> Files::open_searched(const GuestPath& path) const {
  COVE_TRY(const Scope scope, scope_of(path));
  COVE_TRY(OpenedPath opened, scope.resolver().open(scope.path(), O_RDONLY));
  base::UniqueFd root = scope.root();
  if (!root) return base::system_error(errno, "search " + scope.shown());
  return SearchedPlace{std::move(opened.fd), std::move(opened.below), std::move(root),
                       scope.shown()};
}

Result<std::unique_ptr<LineReader>> Files::open_lines(const GuestPath& path,
                                                      const LineRange& range) const {
  COVE_TRY_VOID(check_range(range));
  const ReadRange whole;
  COVE_TRY(OpenedFile file, open_file(path, whole));
  return std::make_unique<LineReader>(std::move(file.fd), std::move(file.info), range);
}

/// Finds where a file is or may be made.
Result<Place> Files::locate_file(const GuestPath& path, const WalkRules& rules) const {
  COVE_TRY_VOID(check_writable(path));
  const PathResolver resolver(*root_, root_path_);
  const std::string shown = resolver.shown(path);
  if (path.path.ends_with('/')) {
    COVE_TRY_VOID(refuse_escape(resolver.locate(path, WalkRules{})));
    return Error(ErrorCode::kFailedPrecondition, shown + " names a directory, not a file");
  }
  COVE_TRY(Place place, resolver.locate(path, rules));
  if (place.name.empty()) return wrong_kind(shown, S_IFDIR, "a file");
  return place;
}

Result<std::unique_ptr<FileWriter>> Files::begin_write(const GuestPath& path,
                                                       const WriteOptions& options) const {
  const WalkRules rules{.create_directories = options.create_parents, .durable = options.durable};
  COVE_TRY(Place place, locate_file(path, rules));
  return begin_writing(std::move(place), options, shown(path), *locks_);
}

Result<EditResult> Files::edit(const GuestPath& path, const std::vector<Edit>& edits,
                               const EditOptions& options) const {
  COVE_TRY_VOID(check_edits(edits));
  COVE_TRY(const Place place, locate_file(path, WalkRules{}));
  if (!place.object) return Error(ErrorCode::kNotFound, shown(path) + " does not exist");
  return edit_place(place, edits, options, shown(path), *locks_);
}

Result<FileInfo> Files::stat(const GuestPath& path) const {
  COVE_TRY(const Scope scope, scope_of(path));
  COVE_TRY(OpenedPath opened, scope.resolver().open(scope.path(), O_PATH | O_NOFOLLOW));
  struct stat facts{};
  if (::fstat(*opened.fd, &facts) != 0) return base::system_error(errno, "stat " + scope.shown());
  FileInfo info = info_of(facts, scope.name_of(std::move(opened.below)));
  if (info.type == FileType::kSymlink) {
    COVE_TRY(info.link_target, link_target(*opened.fd, ""));
  }
  return info;
}

Result<FilePage> Files::list(const GuestPath& path, const ListOptions& options) const {
  COVE_TRY(const Scope scope, scope_of(path));
  COVE_TRY(OpenedPath opened, scope.resolver().open(scope.path(), O_RDONLY | O_DIRECTORY));
  return list_directory(std::move(opened.fd), options, scope.shown());
}

Result<void> Files::make_directory(const GuestPath& path) const {
  COVE_TRY_VOID(check_writable(path));
  // The slash makes the last name a directory on the way, which the walk creates.
  const GuestPath directory{path.session, path.path.empty() ? "" : path.path + "/"};
  const WalkRules rules{.create_directories = true};
  const Result<Place> made = PathResolver(*root_, root_path_).locate(directory, rules);
  if (made) return ok();
  const Error& error = made.error();
  if (error.code() != ErrorCode::kFailedPrecondition) return error;
  return Error(ErrorCode::kAlreadyExists, error.message());
}

/// Finds what has a name of its own, which is not followed where it is a link. `use`: "removed".
Result<Place> Files::locate_entry(const GuestPath& path, const WalkRules& rules,
                                  const std::string& use) const {
  const PathResolver resolver(*root_, root_path_);
  const GuestPath target{path.session, without_slashes(path.path)};
  WalkRules named = rules;
  named.follow_last = false;
  COVE_TRY(Place place, resolver.locate(target, named));
  if (place.name.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 place.below.empty()
                     ? root_path_ + " itself cannot be " + use
                     : shown(path) + " must be " + use + " by its own name, not as '.' or '..'");
  }
  if (place.object && path.path.ends_with('/') && !S_ISDIR(place.facts.st_mode)) {
    return wrong_kind(shown(path), place.facts.st_mode, "a directory");
  }
  return place;
}

Result<void> Files::remove(const GuestPath& path, bool recursive) const {
  COVE_TRY_VOID(check_writable(path));
  COVE_TRY(const Place place, locate_entry(path, WalkRules{}, "removed"));
  if (!place.object) return Error(ErrorCode::kNotFound, shown(path) + " does not exist");
  return recursive ? remove_tree(*place.parent, place.name, shown(path))
                   : remove_entry(*place.parent, place.name, shown(path));
}

Result<FileInfo> Files::move(const GuestPath& from, const GuestPath& to,
                             const MoveOptions& options) const {
  COVE_TRY_VOID(check_writable(from));
  COVE_TRY_VOID(check_writable(to));
  COVE_TRY(const Place source, locate_entry(from, WalkRules{}, "moved"));
  if (!source.object) return Error(ErrorCode::kNotFound, shown(from) + " does not exist");
  const WalkRules rules{.create_directories = options.create_parents};
  COVE_TRY(const Place target, locate_entry(to, rules, "replaced"));
  if (to.path.ends_with('/') && !S_ISDIR(source.facts.st_mode)) {
    return wrong_kind(shown(from), source.facts.st_mode, "a directory");
  }
  return move_place(source, target, options, {shown(from), shown(to)}, *locks_);
}

Result<std::unique_ptr<TreeCopy>> Files::begin_copy(const GuestPath& from, const GuestPath& to,
                                                    const CopyOptions& options) const {
  COVE_TRY_VOID(check_writable(to));
  COVE_TRY(const Scope scope, scope_of(from));
  const WalkRules as_named{.follow_last = false};
  const GuestPath named{scope.path().session, without_slashes(scope.path().path)};
  COVE_TRY(Place source, scope.resolver().locate(named, as_named));
  if (!source.object) return Error(ErrorCode::kNotFound, scope.shown() + " does not exist");
  if (!S_ISDIR(source.facts.st_mode) && from.path.ends_with('/')) {
    return wrong_kind(scope.shown(), source.facts.st_mode, "a directory");
  }
  const WalkRules rules{.create_directories = options.create_parents};
  COVE_TRY(Place target, locate_entry(to, rules, "replaced"));
  source.below = scope.place_of(std::move(source.below));
  auto copy = std::make_unique<TreeCopy>(std::move(source), std::move(target), options,
                                         TreeCopy::Names{scope.shown(), shown(to)}, *locks_);
  COVE_TRY_VOID(copy->begin());
  return copy;
}

Result<FileInfo> Files::set_mode(const GuestPath& path, std::uint32_t mode) const {
  if (mode > 07777U) {
    return Error(ErrorCode::kInvalidArgument, "a mode has at most the bits 07777");
  }
  COVE_TRY_VOID(check_writable(path));
  COVE_TRY(OpenedPath opened, PathResolver(*root_, root_path_).open(path, O_PATH));
  struct stat facts{};
  if (!change_mode(*opened.fd, mode) || ::fstat(*opened.fd, &facts) != 0) {
    return base::system_error(errno, "change the mode of " + shown(path));
  }
  return info_of(facts, opened.below.empty() ? "." : std::move(opened.below));
}

Result<FileInfo> Files::make_symlink(const GuestPath& path, const std::string& target) const {
  if (target.empty() || target.size() >= PATH_MAX || target.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "a link's target has 1 to 4095 bytes and no NUL");
  }
  COVE_TRY_VOID(check_writable(path));
  const WalkRules rules{.create_directories = true};
  COVE_TRY(const Place place, locate_entry(path, rules, "replaced"));
  if (::symlinkat(target.c_str(), *place.parent, place.name.c_str()) != 0) {
    if (errno == EEXIST) return Error(ErrorCode::kAlreadyExists, shown(path) + " exists already");
    return base::system_error(errno, "make the link " + shown(path));
  }
  return stat({path.session, without_slashes(path.path)});
}

Result<std::unique_ptr<TreePacker>> Files::begin_pack(const GuestPath& path) const {
  COVE_TRY(const Scope scope, scope_of(path));
  COVE_TRY(OpenedPath opened, scope.resolver().open(scope.path(), O_RDONLY | O_DIRECTORY));
  auto packer = std::make_unique<TreePacker>(std::move(opened.fd), scope.shown());
  COVE_TRY_VOID(packer->start());
  return packer;
}

Result<std::unique_ptr<TreeUnpacker>> Files::begin_unpack(const GuestPath& path) const {
  COVE_TRY_VOID(make_directory(path));
  COVE_TRY(base::UniqueFd top, open_directory(path));
  return std::make_unique<TreeUnpacker>(std::move(top), shown(path), *locks_);
}

Result<std::unique_ptr<DirectoryWatch>> Files::begin_watch(const GuestPath& path,
                                                           const WatchOptions& options) const {
  auto opener = [this, path]() -> Result<base::UniqueFd> {
    COVE_TRY(const Scope scope, scope_of(path));
    COVE_TRY(OpenedPath opened, scope.resolver().open(scope.path(), O_PATH | O_DIRECTORY));
    return std::move(opened.fd);
  };
  auto watch = std::make_unique<DirectoryWatch>(std::move(opener), options, shown(path));
  COVE_TRY_VOID(watch->start());
  return watch;
}

std::string Files::shown(const GuestPath& path) const {
  return PathResolver(*root_, root_path_).shown(path);
}

Result<void> Files::sync() const {
  // By the root's own descriptor: commands may have closed the directory.
  if (::syncfs(*root_) != 0) return base::system_error(errno, "sync " + root_path_);
  return ok();
}

}  // namespace cove::agent

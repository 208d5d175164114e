#include "agent/files.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/directory_listing.hpp"
#include "agent/files/file_facts.hpp"
#include "agent/files/file_writer.hpp"
#include "agent/files/path_resolver.hpp"
#include "agent/files/tree_removal.hpp"
#include "base/system/system_error.hpp"

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

std::string name_below(std::string below) { return below.empty() ? "." : std::move(below); }

}  // namespace

Files::Files(base::UniqueFd root, std::string root_path)
    : root_(std::move(root)), root_path_(std::move(root_path)) {}

Result<base::UniqueFd> Files::open_directory(const GuestPath& path) const {
  // O_PATH is enough to go there, and needs no permission to read.
  COVE_TRY(OpenedPath opened, PathResolver(*root_, root_path_).open(path, O_PATH | O_DIRECTORY));
  return std::move(opened.fd);
}

Result<OpenedFile> Files::open_file(const GuestPath& path, const ReadRange& range) const {
  const PathResolver resolver(*root_, root_path_);
  COVE_TRY(OpenedPath opened, resolver.open(path, O_RDONLY));
  struct stat facts{};
  if (::fstat(*opened.fd, &facts) != 0) {
    return base::system_error(errno, "read " + resolver.shown(path));
  }
  if (!S_ISREG(facts.st_mode)) return wrong_kind(resolver.shown(path), facts.st_mode, "a file");
  OpenedFile file;
  file.fd = std::move(opened.fd);
  file.info = info_of(facts, std::move(opened.below));
  const std::uint64_t start = std::min(range.offset, file.info.size);
  if (start > 0 && ::lseek(*file.fd, static_cast<off_t>(start), SEEK_SET) < 0) {
    return base::system_error(errno, "read " + resolver.shown(path));
  }
  file.length = std::min(range.length.value_or(file.info.size), file.info.size - start);
  return file;
}

Result<std::unique_ptr<FileWriter>> Files::begin_write(const GuestPath& path,
                                                       const WriteOptions& options) const {
  const PathResolver resolver(*root_, root_path_);
  const std::string shown = resolver.shown(path);
  if (path.path.ends_with('/')) {
    COVE_TRY_VOID(refuse_escape(resolver.locate(path, WalkRules{})));
    return Error(ErrorCode::kFailedPrecondition, shown + " names a directory, not a file");
  }
  const WalkRules rules{.create_directories = options.create_parents, .durable = options.durable};
  COVE_TRY(Place place, resolver.locate(path, rules));
  if (place.name.empty()) return wrong_kind(shown, S_IFDIR, "a file");
  return begin_replacing(std::move(place), options, shown);
}

Result<FileInfo> Files::stat(const GuestPath& path) const {
  const PathResolver resolver(*root_, root_path_);
  COVE_TRY(OpenedPath opened, resolver.open(path, O_PATH | O_NOFOLLOW));
  struct stat facts{};
  if (::fstat(*opened.fd, &facts) != 0) {
    return base::system_error(errno, "stat " + resolver.shown(path));
  }
  FileInfo info = info_of(facts, name_below(std::move(opened.below)));
  if (info.type == FileType::kSymlink) {
    COVE_TRY(info.link_target, link_target(*opened.fd, ""));
  }
  return info;
}

Result<FilePage> Files::list(const GuestPath& path, const ListOptions& options) const {
  const PathResolver resolver(*root_, root_path_);
  COVE_TRY(OpenedPath opened, resolver.open(path, O_RDONLY | O_DIRECTORY));
  return list_directory(std::move(opened.fd), options, resolver.shown(path));
}

Result<void> Files::make_directory(const GuestPath& path) const {
  // The slash makes the last name a directory on the way, which the walk creates.
  const GuestPath directory{path.session, path.path.empty() ? "" : path.path + "/"};
  const WalkRules rules{.create_directories = true};
  const Result<Place> made = PathResolver(*root_, root_path_).locate(directory, rules);
  if (made) return ok();
  const Error& error = made.error();
  if (error.code() != ErrorCode::kFailedPrecondition) return error;
  return Error(ErrorCode::kAlreadyExists, error.message());
}

Result<void> Files::remove(const GuestPath& path, bool recursive) const {
  const PathResolver resolver(*root_, root_path_);
  const std::string shown = resolver.shown(path);
  const GuestPath target{path.session, without_slashes(path.path)};
  const WalkRules rules{.follow_last = false};
  COVE_TRY(const Place place, resolver.locate(target, rules));
  if (place.name.empty()) {
    const bool root = place.below.empty();
    return Error(ErrorCode::kInvalidArgument,
                 root ? root_path_ + " itself cannot be removed"
                      : shown + " must be removed by its own name, not as '.' or '..'");
  }
  if (!place.object) return Error(ErrorCode::kNotFound, shown + " does not exist");
  if (path.path.ends_with('/') && !S_ISDIR(place.facts.st_mode)) {
    return wrong_kind(shown, place.facts.st_mode, "a directory");
  }
  return recursive ? remove_tree(*place.parent, place.name, shown)
                   : remove_entry(*place.parent, place.name, shown);
}

Result<void> Files::sync() const {
  // syncfs refuses an O_PATH descriptor, which the root may be.
  const base::UniqueFd root(::openat(*root_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root || ::syncfs(*root) != 0) return base::system_error(errno, "sync " + root_path_);
  return ok();
}

}  // namespace cove::agent

#include "agent/files/path_resolver.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "agent/files/file_facts.hpp"
#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr int kMaxSwaps = 64;  // how often a name may turn into a link between two calls

Result<void> check_names(std::string_view path, const std::string& shown) {
  if (path.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, shown + " has a NUL byte");
  }
  while (!path.empty()) {
    const std::size_t length = std::min(path.find('/'), path.size());
    if (length > NAME_MAX) {
      return Error(ErrorCode::kInvalidArgument, "a name in " + shown + " has " +
                                                    std::to_string(length) +
                                                    " bytes; at most 255 are possible");
    }
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  return ok();
}

/// `path` without `.`, `..` and doubled slashes. Exact, since no part of it is a link.
std::string plain(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t length = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, length);
    path.remove_prefix(std::min(length + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      const std::size_t slash = result.rfind('/');
      result.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    if (!result.empty()) result += '/';
    result += name;
  }
  return result;
}

/// Whether the root is open to the user who owns it, or could be opened again: a command may have
/// closed it, and everything starts there. Another thread may have been faster.
bool reopen_root(int root) {
  struct stat facts{};
  if (::fstat(root, &facts) != 0) return false;
  if ((facts.st_mode & S_IRWXU) == S_IRWXU) return true;
  return ::fchmod(root, (facts.st_mode & 07777U) | S_IRWXU) == 0;
}

/// Opens what was found, by one name, without following. An empty descriptor: it is a link now.
Result<base::UniqueFd> open_place(Place& place, int flags, const std::string& shown) {
  if ((flags & O_DIRECTORY) != 0 && !S_ISDIR(place.facts.st_mode)) {
    return wrong_kind(shown, place.facts.st_mode, "a directory");
  }
  if ((flags & O_PATH) != 0) return std::move(place.object);
  const bool directory = S_ISDIR(place.facts.st_mode);
  if (!directory && !S_ISREG(place.facts.st_mode)) {
    return wrong_kind(shown, place.facts.st_mode, "a file");
  }
  const int guarded = flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  // SAFETY: `.` of an open directory, or one name without following: neither can lead elsewhere.
  base::UniqueFd fd(directory ? ::openat(*place.object, ".", guarded)
                              : ::openat(*place.parent, place.name.c_str(), guarded));
  if (!fd && errno != ELOOP) return base::system_error(errno, "open " + shown);
  return fd;
}

}  // namespace

Result<OpenedPath> PathResolver::open(const GuestPath& path, int flags) const {
  COVE_TRY_VOID(check(path));
  if (const std::optional<std::string> text = direct(path)) {
    const int guarded = (flags & O_PATH) != 0 ? flags : flags | O_NONBLOCK | O_NOCTTY;
    base::BeneathResult opened =
        base::open_beneath(root_, text->c_str(), guarded, 0, RESOLVE_NO_SYMLINKS);
    if (opened.error_number == EACCES && reopen_root(root_)) {
      opened = base::open_beneath(root_, text->c_str(), guarded, 0, RESOLVE_NO_SYMLINKS);
    }
    if (opened.fd) return OpenedPath{std::move(opened.fd), plain(*text)};
  }
  // A link, a way out, or an error: the walk says which.
  return open_by_walk(path, flags);
}

std::optional<OpenedPath> PathResolver::open_cached(const GuestPath& path, int flags) const {
  const std::optional<std::string> text = direct(path);
  if (!text) return std::nullopt;
  base::BeneathResult opened = base::open_beneath(
      root_, text->c_str(), flags | O_NONBLOCK | O_NOCTTY, 0, RESOLVE_NO_SYMLINKS | RESOLVE_CACHED);
  if (!opened.fd) return std::nullopt;
  return OpenedPath{std::move(opened.fd), plain(*text)};
}

Result<OpenedPath> PathResolver::open_by_walk(const GuestPath& path, int flags) const {
  const WalkRules rules{.follow_last = (flags & O_NOFOLLOW) == 0};
  for (int swap = 0; swap < kMaxSwaps; ++swap) {
    COVE_TRY(Place place, locate(path, rules));
    if (!place.object) return Error(ErrorCode::kNotFound, shown(path) + " does not exist");
    COVE_TRY(base::UniqueFd fd, open_place(place, flags, shown(path)));
    if (fd) return OpenedPath{std::move(fd), std::move(place.below)};
  }
  return Error(ErrorCode::kConflict, shown(path) + " changes all the time");
}

Result<Place> PathResolver::locate(const GuestPath& path, const WalkRules& rules) const {
  COVE_TRY_VOID(check(path));
  Result<Place> place = locate_once(path, rules);
  if (place || place.error().code() != ErrorCode::kPermissionDenied || !reopen_root(root_)) {
    return place;
  }
  return locate_once(path, rules);
}

Result<Place> PathResolver::locate_once(const GuestPath& path, const WalkRules& rules) const {
  PathWalk walk(root_, root_path_, shown(path));
  if (path.session.empty() || path.path.starts_with('/')) return walk.go(path.path, rules);
  const WalkRules reach{};
  const Result<Place> session = walk.go(path.session + "/", reach);
  if (session) return walk.go(path.path, rules);
  if (session.error().code() != ErrorCode::kNotFound) return session.error();
  return Error(ErrorCode::kNotFound,
               "the session's directory " +
                   base::quoted(std::string(root_path_) + "/" + path.session) + " does not exist");
}

std::string PathResolver::shown(const GuestPath& path) const {
  if (!path.path.empty()) return base::quoted(path.path);
  return base::quoted(std::string(root_path_) + (path.session.empty() ? "" : "/") + path.session);
}

Result<void> PathResolver::check(const GuestPath& path) const {
  COVE_TRY_VOID(check_names(path.session, base::quoted(path.session)));
  return check_names(path.path, shown(path));
}

/// The path as one openat2 beneath the root takes it; none where the walk must see it.
std::optional<std::string> PathResolver::direct(const GuestPath& path) const {
  std::string text;
  if (!path.path.starts_with('/')) {
    text = path.session.empty() ? path.path : path.session + "/" + path.path;
  } else {
    const std::string_view whole(path.path);
    const std::string_view rest = whole.substr(std::min(root_path_.size(), whole.size()));
    if (!whole.starts_with(root_path_) || (!rest.empty() && rest.front() != '/')) return {};
    text = rest.substr(std::min(rest.find_first_not_of('/'), rest.size()));
  }
  if (text.empty()) text = ".";
  if (text.size() >= PATH_MAX) return {};
  return text;
}

}  // namespace cove::agent

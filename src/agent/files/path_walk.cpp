#include "agent/files/path_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/files/file_facts.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr int kMaxLinks = 40;  // the kernel's own bound
constexpr int kMaxRaces = 64;  // how often a name may come and go under the walk's feet
constexpr mode_t kDirectoryMode = 0755;

std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t length = std::min(path.find('/'), path.size());
    if (length > 0) names.emplace_back(path.substr(0, length));
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  return names;
}

Result<base::UniqueFd> duplicate(int fd) {
  base::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) return base::system_error(errno, "duplicate a descriptor");
  return copy;
}

/// Gives a directory that was just made its mode whatever the process's mask is, and the disk its
/// name in `parent` where that is asked for.
int finish_directory(int parent, const std::string& name, bool durable) {
  // SAFETY: one name, no link followed; both descriptors are ours.
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const base::UniqueFd made(::openat(parent, name.c_str(), flags));
  if (!made) return errno;
  struct stat facts{};
  if (::fstat(*made, &facts) != 0) return errno;
  const mode_t kept = facts.st_mode & S_ISGID;  // inherited from the parent
  if ((facts.st_mode & 07777U) != (kDirectoryMode | kept) &&
      ::fchmod(*made, kDirectoryMode | kept) != 0) {
    return errno;
  }
  if (!durable) return 0;
  const base::UniqueFd readable(::openat(parent, ".", flags));
  return readable && ::fsync(*made) == 0 && ::fsync(*readable) == 0 ? 0 : errno;
}

}  // namespace

PathWalk::PathWalk(int root, std::string_view root_path, std::string shown)
    : root_names_(names_of(root_path)),
      root_path_(root_path),
      shown_(std::move(shown)),
      trail_(root) {}

Result<Place> PathWalk::go(std::string text, const WalkRules& rules) {
  rest_ = std::move(text);
  position_ = 0;
  if (rest_.starts_with('/')) start_at_top();
  for (;;) {
    const std::string name = take_name();
    if (name.empty()) return stand();
    if (name == ".") continue;
    if (name == "..") {
      climb();
      continue;
    }
    if (above_ > 0) {
      if (name != root_names_[root_names_.size() - above_]) return escape();
      --above_;
      continue;
    }
    COVE_TRY(std::optional<Place> found, step(name, rules));
    if (found) return *std::move(found);
  }
}

std::string PathWalk::take_name() {
  position_ = std::min(rest_.find_first_not_of('/', position_), rest_.size());
  const std::size_t end = std::min(rest_.find('/', position_), rest_.size());
  std::string name = rest_.substr(position_, end - position_);
  position_ = end;
  return name;
}

void PathWalk::climb() {
  if (trail_.depth() > 0) {
    trail_.leave();
  } else if (above_ < root_names_.size()) {  // `..` of `/` is `/`
    ++above_;
  }
}

void PathWalk::start_at_top() {
  trail_.reset();
  above_ = root_names_.size();
}

Result<std::optional<Place>> PathWalk::step(const std::string& name, const WalkRules& rules) {
  COVE_TRY(Seen seen, look_or_create(name, rules));
  if (!seen.fd) {  // a last name that is free
    COVE_TRY(const int directory, here());
    Place place;
    COVE_TRY(place.parent, duplicate(directory));
    place.name = name;
    place.below = below(name);
    return std::optional<Place>(std::move(place));
  }
  return take_in(name, std::move(seen), rules);
}

Result<PathWalk::Seen> PathWalk::look_or_create(const std::string& name, const WalkRules& rules) {
  COVE_TRY(const int directory, here());
  for (int race = 0; race < kMaxRaces; ++race) {
    Seen seen;
    // SAFETY: `name` is one name and no link is followed, so this cannot leave `directory`.
    seen.fd.reset(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (seen.fd) {
      if (::fstat(*seen.fd, &seen.facts) != 0) return failed(errno);
      return seen;
    }
    if (errno != ENOENT) return failed(errno);
    if (at_last_name()) return seen;
    if (!rules.create_directories) return failed(ENOENT);
    COVE_TRY_VOID(make_directory(directory, name, rules));
  }
  return Error(ErrorCode::kConflict, shown_ + " changes all the time");
}

Result<std::optional<Place>> PathWalk::take_in(const std::string& name, Seen seen,
                                               const WalkRules& rules) {
  const bool last = at_last_name();
  if (S_ISLNK(seen.facts.st_mode) && (!last || rules.follow_last)) {
    COVE_TRY_VOID(follow(*seen.fd));
    return std::optional<Place>();
  }
  if (!last) {
    if (!S_ISDIR(seen.facts.st_mode)) {
      return wrong_kind(base::quoted(below(name)), seen.facts.st_mode, "a directory");
    }
    trail_.enter(name, std::move(seen.fd));
    return std::optional<Place>();
  }
  COVE_TRY(const int directory, here());
  Place place;
  COVE_TRY(place.parent, duplicate(directory));
  place.name = name;
  place.object = std::move(seen.fd);
  place.facts = seen.facts;
  place.below = below(name);
  return std::optional<Place>(std::move(place));
}

Result<void> PathWalk::follow(int link) {
  if (++links_ > kMaxLinks) {
    return Error(ErrorCode::kInvalidArgument, shown_ + " goes through more than 40 links");
  }
  COVE_TRY(const std::string target, link_target(link, ""));
  rest_ = target + rest_.substr(position_);
  position_ = 0;
  if (target.starts_with('/')) start_at_top();
  return ok();
}

Result<void> PathWalk::make_directory(int parent, const std::string& name,
                                      const WalkRules& rules) const {
  if (::mkdirat(parent, name.c_str(), kDirectoryMode) != 0) {
    if (errno == EEXIST) return ok();  // another was faster
    return failed(errno);
  }
  const int error_number = finish_directory(parent, name, rules.durable);
  // It may be gone or replaced already: the next look says what is there.
  if (error_number == 0 || error_number == ENOENT || error_number == ENOTDIR ||
      error_number == ELOOP) {
    return ok();
  }
  return failed(error_number);
}

Result<Place> PathWalk::stand() {
  if (above_ > 0) return escape();
  COVE_TRY(const int directory, here());
  Place place;
  COVE_TRY(place.object, duplicate(directory));
  if (::fstat(directory, &place.facts) != 0) return failed(errno);
  place.below = trail_.text();
  return place;
}

Result<int> PathWalk::here() {
  const DirectoryTrail::Here here = trail_.here();
  if (here.fd >= 0) return here.fd;
  if (here.error_number == ELOOP || here.error_number == ENOTDIR) {
    return Error(ErrorCode::kConflict, shown_ + " was changed on the way");
  }
  return failed(here.error_number);
}

std::string PathWalk::below(const std::string& name) const {
  return trail_.depth() == 0 ? name : trail_.text() + "/" + name;
}

Error PathWalk::failed(int error_number) const {
  if (error_number == ENOENT) return {ErrorCode::kNotFound, shown_ + " does not exist"};
  return base::system_error(error_number, "resolve " + shown_);
}

Error PathWalk::escape() const {
  return {ErrorCode::kPathEscape, shown_ + " leads out of " + root_path_};
}

}  // namespace cove::agent

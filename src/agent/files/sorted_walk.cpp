#include "agent/files/sorted_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/files/directory_stream.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMostNames = 65'536;  // kept over all levels, but for the innermost's chunk
constexpr std::size_t kMaxDepth = 65'536;
constexpr int kOpenFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool is_gone(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP;
}

/// The `count` smallest names after `after`, sorted: one pass that keeps only them.
Result<std::vector<std::string>> smallest_names(DirectoryStream& stream, const std::string& after,
                                                std::size_t count, const std::string& shown) {
  std::vector<std::string> heap;  // the largest in front
  for (;;) {
    const DirectoryStream::Entry entry = stream.next();
    if (entry.error_number != 0) return base::system_error(entry.error_number, "list " + shown);
    if (entry.name.empty()) break;
    if (entry.name <= after) continue;
    if (heap.size() == count) {
      if (entry.name >= heap.front()) continue;
      std::pop_heap(heap.begin(), heap.end());
      heap.back() = entry.name;
    } else {
      heap.emplace_back(entry.name);
    }
    std::push_heap(heap.begin(), heap.end());
  }
  std::sort_heap(heap.begin(), heap.end());
  return heap;
}

/// The names of the path to go on behind.
Result<std::vector<std::string>> names_behind(const std::string& after) {
  std::vector<std::string> names;
  std::string_view rest(after);
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (name.empty()) continue;
    if (name == "." || name == ".." || name.find('\0') != std::string_view::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   "'after' is the path of an entry that was listed, not " + base::quoted(after));
    }
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

SortedWalk::SortedWalk(base::UniqueFd top, Options options, std::string shown)
    : top_(std::move(top)),
      depth_(options.depth),
      after_(std::move(options.after)),
      chunk_(options.chunk),
      shown_(std::move(shown)),
      trail_(*top_) {}

Result<void> SortedWalk::start() {
  COVE_TRY(const std::vector<std::string> names, names_behind(after_));
  levels_.emplace_back();
  for (const std::string& name : names) {
    levels_.back().last = name;
    if (!may_enter()) break;
    Step step;
    step.name = name;
    COVE_TRY_VOID(prepare_entering(step));
    if (!entering_.fd) break;
    enter();
  }
  return ok();
}

Result<SortedWalk::Step> SortedWalk::next() {
  if (entering_.fd) enter();
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.position == level.names.size()) {
      if (level.is_all) {
        Step step = leave();
        if (step.kind == Kind::kLeave) return step;
        break;
      }
      COVE_TRY_VOID(refill(level));
      continue;
    }
    Step step;
    step.kind = Kind::kEntry;
    step.name = std::move(level.names[level.position++]);
    level.last = step.name;
    COVE_TRY(const bool there, look(step));
    if (there) return step;
  }
  return Step{};
}

Result<void> SortedWalk::refill(Level& level) {
  level.names.clear();
  level.position = 0;
  level.is_all = true;
  drop_outer_names();
  base::UniqueFd readable = std::move(level.unread);
  if (!readable) {
    const DirectoryTrail::Here here = trail_.here();
    errno = here.error_number;
    // SAFETY: `.` of a directory that is held open leads nowhere else.
    if (here.fd >= 0) readable.reset(::openat(here.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!readable && is_gone(errno)) return ok();
  }
  if (!readable) return base::system_error(errno, "list " + shown_);
  DirectoryStream stream(std::move(readable));
  if (!stream) return base::system_error(errno, "list " + shown_);
  COVE_TRY(level.names, smallest_names(stream, level.last, chunk_, shown_));
  level.is_all = level.names.size() < chunk_;
  return ok();
}

/// Forgets what can be read again where a deep tree of large directories would fill the memory.
void SortedWalk::drop_outer_names() {
  std::size_t kept = 0;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    kept += level->names.size();
    if (kept <= kMostNames || level->names.empty()) continue;
    level->names = {};
    level->position = 0;
    level->is_all = false;
  }
}

/// False: it is gone.
Result<bool> SortedWalk::look(Step& step) {
  const DirectoryTrail::Here here = trail_.here();
  if (here.fd < 0 && is_gone(here.error_number)) return false;
  if (here.fd < 0) return base::system_error(here.error_number, "list " + shown_);
  if (::fstatat(here.fd, step.name.c_str(), &step.facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (is_gone(errno)) return false;
    return base::system_error(errno, "list " + shown_);
  }
  step.path = trail_.depth() == 0 ? step.name : trail_.text() + "/" + step.name;
  if (S_ISDIR(step.facts.st_mode) && may_enter()) COVE_TRY_VOID(prepare_entering(step));
  // Opening may have moved the trail's descriptors, but not this one.
  step.directory = here.fd;
  return true;
}

Result<void> SortedWalk::prepare_entering(Step& step) {
  const DirectoryTrail::Here here = trail_.here();
  if (levels_.size() >= kMaxDepth) {
    step.unreadable = true;
    return ok();
  }
  // SAFETY: one name of a directory that is held open, no link followed; then its own `.`.
  Entering entering{step.name,
                    base::UniqueFd(::openat(here.fd, step.name.c_str(), kOpenFlags | O_PATH)),
                    base::UniqueFd()};
  if (entering.fd) entering.readable.reset(::openat(*entering.fd, ".", kOpenFlags | O_RDONLY));
  if (!entering.readable) {
    step.unreadable = errno == EACCES;
    if (step.unreadable || is_gone(errno)) return ok();
    return base::system_error(errno, "list " + shown_);
  }
  step.enters = true;
  entering_ = std::move(entering);
  return ok();
}

void SortedWalk::enter() {
  trail_.enter(std::move(entering_.name), std::move(entering_.fd));
  levels_.emplace_back();
  levels_.back().unread = std::move(entering_.readable);
  entering_ = {};
}

SortedWalk::Step SortedWalk::leave() {
  levels_.pop_back();
  Step step;
  if (levels_.empty()) return step;
  step.kind = Kind::kLeave;
  step.path = trail_.text();
  step.name = levels_.back().last;
  trail_.leave();
  return step;
}

}  // namespace cove::agent

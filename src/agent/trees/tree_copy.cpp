#include "agent/trees/tree_copy.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/file_facts.hpp"
#include "agent/files/temporary_file.hpp"
#include "agent/files/tree_removal.hpp"
#include "agent/trees/entry_facts.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr std::chrono::milliseconds kStepTime{50};

/// Lets the owner remove what is in the directories of a copy that is given up.
void open_up(int parent, const std::string& name) {
  base::UniqueFd top(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!top) return;
  if (::fchmod(*top, 0700) != 0) return;
  SortedWalk walk(std::move(top), {}, name);
  if (!walk.start()) return;
  for (;;) {
    const Result<SortedWalk::Step> step = walk.next();
    if (!step || step->kind == SortedWalk::Kind::kEnd) return;
    if (step->kind != SortedWalk::Kind::kEntry || !S_ISDIR(step->facts.st_mode)) continue;
    const base::UniqueFd directory(::openat(step->directory, step->name.c_str(),
                                            O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (directory) static_cast<void>(change_mode(*directory, 0700));
  }
}

}  // namespace

TreeCopy::TreeCopy(Place from, Place to, const CopyOptions& options, Names shown, FileLocks& locks)
    : from_(std::move(from)),
      to_(std::move(to)),
      options_(options),
      shown_(std::move(shown)),
      locks_(locks) {}

TreeCopy::~TreeCopy() {
  file_.reset();
  if (temporary_.empty()) return;
  open_up(*to_.parent, temporary_);
  // What cannot be removed was made unremovable by others meanwhile; there is nobody to tell.
  static_cast<void>(remove_tree(*to_.parent, temporary_, shown_.to));
}

Result<void> TreeCopy::check() const {
  const bool directory = S_ISDIR(from_.facts.st_mode);
  const bool inside = from_.below.empty() || to_.below.starts_with(from_.below + "/");
  if (directory && inside) {
    return Error(ErrorCode::kInvalidArgument,
                 shown_.to + " is inside " + shown_.from + ", which cannot hold its own copy");
  }
  if (!to_.object) return ok();
  if (!options_.overwrite) {
    return Error(ErrorCode::kAlreadyExists, shown_.to + " exists already");
  }
  if (directory || S_ISDIR(to_.facts.st_mode)) {
    return Error(ErrorCode::kFailedPrecondition,
                 shown_.to + " exists, and directories are not replaced: remove it first");
  }
  return ok();
}

Result<void> TreeCopy::begin() {
  COVE_TRY_VOID(check());
  temporary_ = temporary_name();
  if (S_ISDIR(from_.facts.st_mode)) return begin_directory();
  counts_.entries = 1;
  COVE_TRY_VOID(make(*from_.parent, from_.name, from_.facts, *to_.parent, temporary_));
  if (counts_.skipped == 0) return ok();
  return wrong_kind(shown_.from, from_.facts.st_mode, "something that can be copied");
}

Result<void> TreeCopy::begin_directory() {
  if (::mkdirat(*to_.parent, temporary_.c_str(), 0700) != 0) return failed(errno);
  // SAFETY: names in directories that are held open, no link followed.
  constexpr int kFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  target_top_.reset(::openat(*to_.parent, temporary_.c_str(), O_PATH | kFlags));
  if (!target_top_) return failed(errno);
  base::UniqueFd top(::openat(*from_.object, ".", O_RDONLY | kFlags));
  if (!top) return base::system_error(errno, "read " + shown_.from);
  target_.emplace(*target_top_);
  entered_.push_back(from_.facts);
  counts_.entries = 1;
  walk_.emplace(std::move(top), SortedWalk::Options{}, shown_.from);
  return walk_->start();
}

Result<bool> TreeCopy::step() {
  const auto until = std::chrono::steady_clock::now() + kStepTime;
  do {
    COVE_TRY(const bool done, advance());
    if (done) return place();
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

/// Does one small thing. True: everything is there, under its temporary name.
Result<bool> TreeCopy::advance() {
  if (file_) {
    switch (file_->step()) {
      case FileCopy::Progress::kMore: return false;
      case FileCopy::Progress::kFailed: return failed(errno);
      case FileCopy::Progress::kDone: break;
    }
    COVE_TRY_VOID(finish_file());
    return !walk_.has_value();
  }
  if (!walk_) return true;
  return advance_walk();
}

Result<bool> TreeCopy::advance_walk() {
  COVE_TRY(const SortedWalk::Step step, walk_->next());
  if (step.kind != SortedWalk::Kind::kEntry) {
    COVE_TRY_VOID(leave());
    return step.kind == SortedWalk::Kind::kEnd;
  }
  if (step.unreadable) {
    return Error(ErrorCode::kPermissionDenied,
                 base::quoted(step.path) + " in " + shown_.from + " may not be read");
  }
  COVE_TRY(const int to, target());
  COVE_TRY(const bool linked, link_again(step, to));
  ++counts_.entries;
  if (linked) return false;
  if (S_ISDIR(step.facts.st_mode)) {
    COVE_TRY_VOID(enter(step, to));
  } else {
    COVE_TRY_VOID(make(step.directory, step.name, step.facts, to, step.name));
  }
  return false;
}

Result<void> TreeCopy::make(int from, const std::string& name, const struct stat& facts, int to,
                            const std::string& as) {
  switch (facts.st_mode & S_IFMT) {
    case S_IFREG: return make_file(from, name, to, as);
    case S_IFLNK: return make_link(from, name, facts, to, as);
    case S_IFIFO:
      if (::mkfifoat(to, as.c_str(), 0600) != 0) return failed(errno);
      if (!set_entry_facts(to, as, facts)) return failed(errno);
      return ok();
    default:
      ++counts_.skipped;
      --counts_.entries;
      return ok();
  }
}

Result<void> TreeCopy::make_file(int from, const std::string& name, int to, const std::string& as) {
  // SAFETY: one name each, no link followed; a FIFO that took the name does not block.
  base::UniqueFd source(
      ::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!source || ::fstat(*source, &file_facts_) != 0) {
    if (errno == ENOENT) return Error(ErrorCode::kConflict, shown_.from + " was changed meanwhile");
    return base::system_error(errno, "read " + base::quoted(name) + " of " + shown_.from);
  }
  if (!S_ISREG(file_facts_.st_mode)) {
    return Error(ErrorCode::kConflict, shown_.from + " was changed meanwhile");
  }
  base::UniqueFd target(
      ::openat(to, as.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target) return failed(errno);
  const auto size = static_cast<std::uint64_t>(file_facts_.st_size);
  counts_.bytes += size;
  file_.emplace(std::move(source), std::move(target), size);
  return ok();
}

Result<void> TreeCopy::make_link(int from, const std::string& name, const struct stat& facts,
                                 int to, const std::string& as) {
  COVE_TRY(const std::string target, link_target(from, name));
  if (::symlinkat(target.c_str(), to, as.c_str()) != 0) return failed(errno);
  if (!set_entry_facts(to, as, facts)) return failed(errno);
  return ok();
}

/// True where the entry is a further name of a file that was copied already.
Result<bool> TreeCopy::link_again(const SortedWalk::Step& step, int to) {
  const std::optional<std::string> first = links_.first_name(step.facts, step.path);
  if (!first) return false;
  const std::size_t slash = first->rfind('/');
  const std::string_view directory =
      std::string_view(*first).substr(0, slash == std::string::npos ? 0 : slash);
  const base::UniqueFd parent = open_directory_below(*target_top_, directory);
  const std::string name = first->substr(slash == std::string::npos ? 0 : slash + 1);
  if (parent && ::linkat(*parent, name.c_str(), to, step.name.c_str(), 0) == 0) return true;
  return failed(errno);
}

Result<void> TreeCopy::enter(const SortedWalk::Step& step, int to) {
  if (::mkdirat(to, step.name.c_str(), 0700) != 0) return failed(errno);
  // SAFETY: a name that was just made, no link followed.
  base::UniqueFd made(
      ::openat(to, step.name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made) return failed(errno);
  target_->enter(step.name, std::move(made));
  entered_.push_back(step.facts);
  // One that vanished between two looks is left at once.
  if (!step.enters) return leave();
  return ok();
}

/// The directory is whole: it gets its mode and times, which writing into it would have changed.
Result<void> TreeCopy::leave() {
  COVE_TRY(const int directory, target());
  if (!set_directory_facts(directory, entered_.back())) return failed(errno);
  entered_.pop_back();
  if (target_->depth() > 0) target_->leave();
  return ok();
}

Result<void> TreeCopy::finish_file() {
  const FileCopy file = *std::exchange(file_, std::nullopt);
  const timespec times[] = {file_facts_.st_atim, file_facts_.st_mtim};
  if (::fchmod(file.target(), file_facts_.st_mode & 07777U) != 0 ||
      ::futimens(file.target(), times) != 0) {
    return failed(errno);
  }
  return ok();
}

Result<bool> TreeCopy::place() {
  const FileLocks::Lock lock = locks_.hold(*to_.parent, to_.name);
  const unsigned flags = options_.overwrite && !walk_ ? 0 : RENAME_NOREPLACE;
  if (::renameat2(*to_.parent, temporary_.c_str(), *to_.parent, to_.name.c_str(), flags) != 0) {
    if (errno == EEXIST) return Error(ErrorCode::kAlreadyExists, shown_.to + " exists already");
    return failed(errno);
  }
  temporary_.clear();
  return true;
}

Result<int> TreeCopy::target() {
  const DirectoryTrail::Here here = target_->here();
  if (here.fd >= 0) return here.fd;
  return Error(ErrorCode::kConflict,
               "the copy was changed while it was made: " + failed(here.error_number).message());
}

Error TreeCopy::failed(int error_number) const {
  return base::system_error(error_number, "copy " + shown_.from + " to " + shown_.to);
}

}  // namespace cove::agent

#include "agent/search/search.hpp"

#include <exception>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "agent/files/file_facts.hpp"
#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {

namespace {

/// True where a read that gives less than was asked for can only mean the file's end. Of network
/// file systems and FUSE that is not certain.
bool is_local_disk(int fd) {
  struct statfs facts{};
  if (::fstatfs(fd, &facts) != 0) return false;
  switch (facts.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC: return true;
    default: return false;
  }
}

}  // namespace

Search::Search(SearchGround& ground, GuestPath path, WalkOrder::Options options,
               SearchEvents events)
    : order_(options, std::move(events.on_output)),
      ground_(ground),
      path_(std::move(path)),
      events_(std::move(events)) {}

Search::~Search() = default;

void Search::end() {
  order_.stop(SearchEnd::kCancelled, Found());
  for (;;) {
    std::vector<std::thread> threads;
    {
      const std::lock_guard lock(mutex_);
      threads = std::exchange(threads_, {});
    }
    if (threads.empty()) return;
    for (std::thread& thread : threads) thread.join();
  }
}

Result<void> Search::start() {
  if (hire()) return ok();
  return Error(ErrorCode::kUnavailable, "the system has no thread for a search now");
}

/// Starts one more thread; false where there is none.
bool Search::hire() {
  const std::lock_guard lock(mutex_);
  const bool first = hired_ == 0;
  if (!first && (hired_ >= ground_.most_threads || !ground_.budget.take())) return false;
  ++running_;
  try {
    threads_.emplace_back([this, first] { run(first); });
  } catch (const std::system_error&) {
    --running_;
    if (!first) ground_.budget.give_back(1);
    hired_ = ground_.most_threads;  // what there is must do
    return false;
  }
  ++hired_;
  return true;
}

void Search::run(bool first) {
  try {
    const Result<void> opened = first ? open() : ok();
    if (!opened) order_.fail(opened.error());
    work();
  } catch (const std::exception& e) {
    order_.fail(Error(ErrorCode::kInternal, std::string("the search ended: ") + e.what()));
  }
  if (!first) ground_.budget.give_back(1);
  if (--running_ > 0) return;
  order_.give_last(last());
  order_.close();
  ::malloc_trim(0);  // what an automaton and long lines needed is not kept by an idle agent
  events_.on_done();
}

void Search::work() {
  std::unique_ptr<SearchWorker> worker;
  bool alone = true;  // until no more threads are to be had
  while (const auto place = order_.take()) {
    if (alone && order_.has_free_piece()) alone = hire();
    if (!worker) worker = make_worker();
    Found found;
    if (!worker->look(*place, found)) return;
    const WalkPiece& piece = (*place)->piece;
    std::shared_ptr<Directory> inner;
    if (piece.is_directory()) inner = read_inner(piece, found.counts);
    order_.finish(*place, std::move(found), std::move(inner));
  }
}

std::shared_ptr<Directory> Search::read_inner(const WalkPiece& piece, SearchSummary& counts) const {
  if (max_depth() && piece.directory->depth() >= *max_depth()) return nullptr;
  const Directory::Entry& entry = piece.directory->entries()[piece.begin];
  auto inner = Directory::read_inner(piece.directory, entry, filter());
  if (inner) return *std::move(inner);
  add_problem(counts, piece.directory->path_of(entry).substr(filter().searched), inner.error());
  return nullptr;
}

Result<void> Search::open() {
  COVE_TRY_VOID(prepare());
  COVE_TRY(SearchedPlace place, ground_.files.open_searched(path_));
  struct stat facts{};
  if (::fstat(*place.fd, &facts) != 0) return base::system_error(errno, "search " + place.shown);
  local_disk_ = is_local_disk(*place.fd);
  std::string& below = place.below;
  if (!S_ISDIR(facts.st_mode)) {
    if (!takes_file()) return wrong_kind(place.shown, facts.st_mode, "a directory");
    if (!S_ISREG(facts.st_mode)) {
      return wrong_kind(place.shown, facts.st_mode, "a file or directory");
    }
    filter().searched = below.rfind('/') == std::string::npos ? 0 : below.rfind('/') + 1;
    order_.begin(Directory::of_file(std::move(place.fd), below));
    return ok();
  }
  std::shared_ptr<const IgnoreLevel> outer;
  if (filter().use_ignore_files && !below.empty()) outer = outer_rules(*place.root, below);
  if (!below.empty()) below += '/';
  filter().searched = below.size();
  auto root = Directory::read_root(std::move(place.fd), below, std::move(outer), filter());
  if (!root) return root.error();
  order_.begin(*std::move(root));
  return ok();
}

/// The rules of the root and of every directory between it and `below`.
std::shared_ptr<const IgnoreLevel> Search::outer_rules(int root, const std::string& below) {
  auto level = read_ignore_level(root, nullptr, 0);
  for (std::size_t slash = below.find('/'); slash != std::string::npos;
       slash = below.find('/', slash + 1)) {
    const base::BeneathResult directory =
        base::open_in_volume(root, below.substr(0, slash).c_str(), O_PATH | O_DIRECTORY);
    if (directory.fd) level = read_ignore_level(*directory.fd, std::move(level), slash + 1);
  }
  return level;
}

}  // namespace cove::agent

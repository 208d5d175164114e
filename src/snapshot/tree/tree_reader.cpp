#include "snapshot/tree/tree_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "snapshot/tree/guarded_open.hpp"

namespace cove::snapshot {
namespace {

constexpr std::size_t kNamesBuffer = 32 * 1024;
constexpr std::size_t kBufferedLevels = 32;
constexpr std::size_t kPiece = 256 * 1024;
constexpr std::uint64_t kStepWork = 1 << 20;  // bytes; an entry counts as 4 KiB
constexpr std::uint64_t kEntryWork = 4096;
constexpr unsigned kStepExtents = 1024;
constexpr std::size_t kHeldEnough = 256 * 1024;
// A tar header holds a path at most twice, and readers take one of 1 MiB.
constexpr std::size_t kLongestPath = 256 * 1024;
constexpr std::uint32_t kSingleId = 1000;
constexpr std::uint32_t kNobody = 65534;  // what the sandbox itself sees of an id it has not

std::uint32_t inside_id(const IdMapping& ids, std::uint32_t outside) {
  if (ids.single) return kSingleId;
  const bool mapped = outside >= ids.offset && outside - ids.offset < ids.count;
  return mapped ? outside - ids.offset : kNobody;
}

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

Result<std::string> NameReader::next(int directory) {
  for (;;) {
    if (buffer_.empty() || at_ >= size_) {
      COVE_TRY(const bool more, read(directory));
      if (!more) return std::string();
    }
    const auto* const entry = reinterpret_cast<const dirent64*>(buffer_.data() + at_);
    at_ += entry->d_reclen;
    resume_ = entry->d_off;
    std::string name = entry->d_name;
    if (name != "." && name != "..") return name;
  }
}

Result<bool> NameReader::read(int directory) {
  buffer_.resize(kNamesBuffer);
  at_ = 0;
  size_ = 0;
  if (::lseek(directory, resume_, SEEK_SET) < 0) {
    return base::system_error(errno, "go on in a directory");
  }
  // SAFETY: the kernel fills at most `buffer_` and aligns its records for dirent64.
  const long size = ::syscall(SYS_getdents64, directory, buffer_.data(), buffer_.size());
  if (size < 0) return base::system_error(errno, "read a directory");
  size_ = static_cast<std::size_t>(size);
  return size_ > 0;
}

Result<std::unique_ptr<TreeReader>> TreeReader::open(int volume, const IdMapping& ids) {
  if (!ids.single && ids.count == 0) {
    return Error(ErrorCode::kInvalidArgument, "the volume's mapping of ids is empty");
  }
  int mode = -1;
  Result<DirectoryChain> chain = DirectoryChain::open(volume);
  if (!chain && chain.error().code() == ErrorCode::kPermissionDenied) {
    COVE_TRY(mode, widen_mode(volume, ".", 0500, ""));
    chain = DirectoryChain::open(volume);
  }
  if (!chain) return chain.error();
  std::unique_ptr<TreeReader> reader(new TreeReader(*std::move(chain), ids));
  reader->levels_.back().mode_to_restore = mode;
  return reader;
}

TreeReader::~TreeReader() {
  // Only after an error or a cancelled save is something left to set back.
  while (levels_.size() > 1) {
    if (!leave()) {
      levels_.pop_back();
      chain_.pop();
    }
  }
  const Result<int> root = chain_.fd();
  const int mode = levels_.back().mode_to_restore;
  if (root && mode >= 0) static_cast<void>(::fchmod(*root, static_cast<mode_t>(mode)));
}

Result<bool> TreeReader::step(ArchiveWriter& archive) {
  step_work_ = 0;
  while (step_work_ < kStepWork && archive.held() < kHeldEnough) {
    if (state_ == State::kDone) return false;
    COVE_TRY_VOID(advance(archive));
  }
  return state_ != State::kDone;
}

Result<void> TreeReader::advance(ArchiveWriter& archive) {
  switch (state_) {
    case State::kRoot: return add_root(archive);
    case State::kNames: return next_name(archive);
    case State::kScan: return scan(archive);
    case State::kContent: return read_content(archive);
    case State::kDone: return {};
  }
  return {};
}

Attributes TreeReader::attributes_of(const struct stat& status) const {
  Attributes attributes;
  attributes.mode = status.st_mode & 07777U;
  attributes.uid = inside_id(ids_, status.st_uid);
  attributes.gid = inside_id(ids_, status.st_gid);
  attributes.mtime = status.st_mtim.tv_sec;
  attributes.mtime_nanoseconds = static_cast<std::uint32_t>(status.st_mtim.tv_nsec);
  return attributes;
}

Result<void> TreeReader::add_root(ArchiveWriter& archive) {
  COVE_TRY(const int root, chain_.fd());
  struct stat status{};
  if (::fstat(root, &status) != 0) return failure_at(errno, "look at", "");
  Entry entry;
  entry.type = EntryType::kDirectory;
  entry.attributes = attributes_of(status);
  const int widened = levels_.back().mode_to_restore;
  if (widened >= 0) entry.attributes.mode = static_cast<std::uint32_t>(widened);
  COVE_TRY(entry.attributes.xattrs, xattrs_of(root, ""));
  state_ = State::kNames;
  return archive.begin(entry);
}

Result<void> TreeReader::next_name(ArchiveWriter& archive) {
  COVE_TRY(const int directory, chain_.fd());
  Result<std::string> name = levels_.back().names.next(directory);
  if (!name) return name.error().with_context("directory", shown(chain_.path()));
  if (!name->empty()) return visit(*name, archive);
  if (levels_.size() > 1) return leave();
  state_ = State::kDone;
  return {};
}

Result<void> TreeReader::visit(const std::string& name, ArchiveWriter& archive) {
  step_work_ += kEntryWork;
  COVE_TRY(const int directory, chain_.fd());
  Entry entry;
  entry.path = chain_.path_of(name);
  step_work_ += entry.path.size();
  struct stat found{};
  if (::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    return failure_at(errno, "look at", entry.path);
  }
  if (entry.path.size() > kLongestPath) {
    return Error(ErrorCode::kTooLarge, "the path " + shown(entry.path) + " has " +
                                           std::to_string(entry.path.size()) +
                                           " bytes; a snapshot takes paths of 262144");
  }
  entry.attributes = attributes_of(found);
  const auto type = found.st_mode & S_IFMT;
  if (type == S_IFDIR) return enter(name, found, archive);
  if (type == S_IFSOCK) return ++counts_.sockets, ok();
  if (type == S_IFCHR || type == S_IFBLK) return ++counts_.devices, ok();
  ++counts_.entries;
  COVE_TRY(const bool linked, add_hard_link(entry, found, archive));
  if (linked) return {};
  if (type == S_IFREG) return begin_file(name, std::move(entry), found, archive);
  entry.type = EntryType::kFifo;
  if (type == S_IFLNK) {
    entry.type = EntryType::kSymlink;
    COVE_TRY(entry.target, link_text(directory, name, entry.path));
  }
  return archive.begin(entry);
}

Result<void> TreeReader::enter(const std::string& name, const struct stat& found,
                               ArchiveWriter& archive) {
  COVE_TRY(const int parent, chain_.fd());
  const std::string path = chain_.path_of(name);
  int widened = -1;
  COVE_TRY(int error, chain_.push(name));
  if (error == EACCES) {
    COVE_TRY(widened, widen_mode(parent, name, 0500, path));
    COVE_TRY(error, chain_.push(name));
  }
  if (error != 0) return failure_at(error, "open directory", path);
  levels_.push_back({{}, widened});
  if (levels_.size() > kBufferedLevels)
    levels_[levels_.size() - 1 - kBufferedLevels].names.forget();
  COVE_TRY(const int directory, chain_.fd());
  struct stat status{};
  if (::fstat(directory, &status) != 0) return failure_at(errno, "look at", path);
  if (status.st_ino != found.st_ino) return changed_meanwhile(path, "became another directory");
  // Readable, but not to be entered: the owner's x is missing.
  if (widened < 0 && ::geteuid() != 0 && (status.st_mode & 0500U) != 0500U &&
      status.st_uid == ::geteuid()) {
    COVE_TRY(levels_.back().mode_to_restore, widen_mode(parent, name, 0500, path));
  }
  Entry entry;
  entry.path = path;
  entry.type = EntryType::kDirectory;
  entry.attributes = attributes_of(found);
  COVE_TRY(entry.attributes.xattrs, xattrs_of(directory, path));
  ++counts_.entries;
  return archive.begin(entry);
}

Result<void> TreeReader::leave() {
  const int mode = levels_.back().mode_to_restore;
  if (mode >= 0) {
    COVE_TRY(const int directory, chain_.fd());
    if (::fchmod(directory, static_cast<mode_t>(mode)) != 0) {
      return failure_at(errno, "set back the mode of", chain_.path());
    }
  }
  levels_.pop_back();
  chain_.pop();
  return {};
}

Result<bool> TreeReader::add_hard_link(const Entry& entry, const struct stat& found,
                                       ArchiveWriter& archive) {
  if (found.st_nlink < 2) return false;
  const auto [known, is_first] = hard_links_.try_emplace(
      found.st_ino, HardLink{entry.path, static_cast<std::uint64_t>(found.st_nlink) - 1});
  if (is_first) return false;
  Entry link;
  link.path = entry.path;
  link.type = EntryType::kHardLink;
  link.attributes = entry.attributes;
  link.target = known->second.path;
  if (--known->second.names_left == 0) hard_links_.erase(known);
  COVE_TRY_VOID(archive.begin(link));
  return true;
}

Result<void> TreeReader::begin_file(const std::string& name, Entry entry, const struct stat& found,
                                    ArchiveWriter& archive) {
  COVE_TRY(const int directory, chain_.fd());
  COVE_TRY(file_, open_file(directory, name, found, entry.path));
  if (::fstat(*file_, &file_status_) != 0) return failure_at(errno, "look at", entry.path);
  COVE_TRY(entry.attributes.xattrs, xattrs_of(*file_, entry.path));
  entry.size = static_cast<std::uint64_t>(file_status_.st_size);
  file_entry_ = std::move(entry);
  extent_ = 0;
  at_ = 0;
  // Fewer blocks than bytes: it has holes, or its file system packs. The scan tells.
  if (static_cast<std::uint64_t>(file_status_.st_blocks) * 512 < file_entry_.size) {
    scan_ = std::make_unique<ExtentScan>(*file_, file_entry_.size);
    state_ = State::kScan;
    return {};
  }
  if (file_entry_.size > 0) file_entry_.data = {{0, file_entry_.size}};
  state_ = State::kContent;
  return archive.begin(file_entry_);
}

Result<void> TreeReader::scan(ArchiveWriter& archive) {
  step_work_ += kStepWork / 4;
  const Result<bool> more = scan_->step(kStepExtents);
  if (!more) return more.error().with_context("path", shown(file_entry_.path));
  if (*more) return {};
  file_entry_.data = scan_->take();
  scan_.reset();
  const Extent whole{0, file_entry_.size};
  file_entry_.sparse = file_entry_.data != std::vector<Extent>{whole};
  state_ = State::kContent;
  return archive.begin(file_entry_);
}

Result<void> TreeReader::read_content(ArchiveWriter& archive) {
  if (extent_ == file_entry_.data.size()) return end_file(archive);
  const Extent& extent = file_entry_.data[extent_];
  if (at_ < extent.offset) {
    COVE_TRY_VOID(archive.hole(extent.offset - at_));
    at_ = extent.offset;
  }
  Bytes piece(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, extent.end() - at_)));
  const ssize_t size = ::pread(*file_, piece.data(), piece.size(), static_cast<off_t>(at_));
  if (size < 0 && errno == EINTR) return {};
  if (size < 0) return failure_at(errno, "read", file_entry_.path);
  if (size == 0) return changed_meanwhile(file_entry_.path, "became shorter");
  piece.resize(static_cast<std::size_t>(size));
  COVE_TRY_VOID(archive.data(piece));
  at_ += piece.size();
  counts_.content_bytes += piece.size();
  step_work_ += piece.size();
  if (at_ == extent.end()) ++extent_;
  return {};
}

Result<void> TreeReader::end_file(ArchiveWriter& archive) {
  COVE_TRY_VOID(archive.hole(file_entry_.size - at_));
  struct stat status{};
  if (::fstat(*file_, &status) != 0) return failure_at(errno, "look at", file_entry_.path);
  if (status.st_size != file_status_.st_size ||
      !is_same_time(status.st_mtim, file_status_.st_mtim)) {
    return changed_meanwhile(file_entry_.path, "was written");
  }
  file_.reset();
  state_ = State::kNames;
  return {};
}

}  // namespace cove::snapshot

#include "agent/search/walk/directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr std::uint32_t kDeepest = 4'096;
constexpr std::uint32_t kHeldLevels = 32;
constexpr std::size_t kReadSize = 64 * 1024;
constexpr std::size_t kMostRuleBytes = 1U << 20U;
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

std::uint64_t order_of(std::string_view name) {
  std::uint64_t order = 0;
  for (std::size_t i = 0; i < sizeof order; ++i) {
    order = order << 8U | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0U);
  }
  return order;
}

/// What is gone, was swapped, or is another file system's is passed over.
bool is_no_matter(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP ||
         error_number == EXDEV;
}

unsigned char type_of(int directory, const char* name) {
  struct stat facts{};
  if (::fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(facts.st_mode));
}

std::string read_rule_text(int directory, std::string_view name) {
  const base::BeneathResult opened =
      base::open_in_volume(directory, std::string(name).c_str(), O_RDONLY | O_NOFOLLOW, 0);
  std::string text;
  std::array<char, 16 * 1024> buffer;
  while (opened.fd && text.size() < kMostRuleBytes) {
    const ssize_t got = ::read(*opened.fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// `text` without its last line where it was cut in it.
std::string_view whole_lines(std::string_view text) {
  if (text.size() < kMostRuleBytes) return text;
  return text.substr(0, text.rfind('\n') + 1);
}

}  // namespace

std::shared_ptr<const IgnoreLevel> read_ignore_level(int fd,
                                                     std::shared_ptr<const IgnoreLevel> outer,
                                                     std::size_t prefix) {
  auto level = std::make_shared<IgnoreLevel>();
  bool any = false;
  for (std::size_t kind = 0; kind < kIgnoreFiles.size(); ++kind) {
    level->files[kind] = IgnoreFile::parse(whole_lines(read_rule_text(fd, kIgnoreFiles[kind])));
    any = any || !level->files[kind].empty();
  }
  if (!any) return outer;
  level->outer = std::move(outer);
  level->prefix = prefix;
  return level;
}

Directory::Directory(std::string path, std::shared_ptr<Directory> parent)
    : path_(std::move(path)), parent_(std::move(parent)) {
  if (parent_) depth_ = parent_->depth_ + 1;
}

Result<std::shared_ptr<Directory>> Directory::read_root(base::UniqueFd fd, std::string path,
                                                        std::shared_ptr<const IgnoreLevel> outer,
                                                        const EntryFilter& filter) {
  std::shared_ptr<Directory> directory(new Directory(std::move(path), nullptr));
  directory->level_ = std::move(outer);
  directory->fd_ = std::make_shared<base::UniqueFd>(std::move(fd));
  COVE_TRY_VOID(directory->read(filter));
  return directory;
}

std::shared_ptr<Directory> Directory::of_file(base::UniqueFd fd, const std::string& path) {
  const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  std::shared_ptr<Directory> directory(new Directory(path.substr(0, name), nullptr));
  directory->is_file_ = true;
  directory->fd_ = std::make_shared<base::UniqueFd>(std::move(fd));
  directory->names_ = path.substr(name) + '\0';
  directory->entries_.push_back(
      {0, 0, static_cast<std::uint16_t>(path.size() - name), DT_REG, true});
  return directory;
}

Result<std::shared_ptr<Directory>> Directory::read_inner(const std::shared_ptr<Directory>& parent,
                                                         const Entry& entry,
                                                         const EntryFilter& filter) {
  if (parent->depth_ == kDeepest) {
    return Error(ErrorCode::kTooLarge, "it is deeper than 4,096 directories");
  }
  const SharedFd outer = parent->descriptor();
  if (!outer) return std::shared_ptr<Directory>();
  base::BeneathResult opened =
      base::open_in_volume(**outer, parent->c_name(entry), kDirectoryFlags, 0);
  if (!opened.fd) {
    if (is_no_matter(opened.error_number)) return std::shared_ptr<Directory>();
    return base::system_error(opened.error_number, "open the directory");
  }
  std::shared_ptr<Directory> directory(new Directory(parent->path_of(entry) + "/", parent));
  directory->level_ = parent->level_;
  directory->fd_ = std::make_shared<base::UniqueFd>(std::move(opened.fd));
  COVE_TRY_VOID(directory->read(filter));
  directory->let_go_of_ancestor();
  return directory;
}

Result<void> Directory::read(const EntryFilter& filter) {
  COVE_TRY_VOID(read_names());
  if (filter.use_ignore_files) read_rules(filter);
  select(filter);
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    return a.order != b.order ? a.order < b.order : name(a) < name(b);
  });
  return ok();
}

Result<void> Directory::read_names() {
  // SAFETY: the kernel writes whole linux_dirent64 records into the buffer.
  alignas(dirent64) std::array<char, kReadSize> buffer;
  for (;;) {
    const long got = ::syscall(SYS_getdents64, **fd_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOENT) return ok();  // removed meanwhile
    if (got < 0) return base::system_error(errno, "read the directory");
    if (got == 0) return ok();
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const std::string_view text(entry->d_name);
      if (text == "." || text == ".." || text == ".git") continue;
      Entry added;
      added.order = order_of(text);
      added.name = static_cast<std::uint32_t>(names_.size());
      added.length = static_cast<std::uint16_t>(text.size());
      added.type = entry->d_type;
      names_.append(text.data(), text.size() + 1);
      entries_.push_back(added);
    }
    if (names_.size() > UINT32_MAX - kReadSize) {
      return Error(ErrorCode::kTooLarge, "the directory has too many entries");
    }
  }
}

bool Directory::has(std::string_view wanted) const {
  const std::uint64_t order = order_of(wanted);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.order == order && name(entry) == wanted;
  });
}

void Directory::read_rules(const EntryFilter&) {
  if (std::none_of(kIgnoreFiles.begin(), kIgnoreFiles.end(),
                   [this](std::string_view file) { return has(file); })) {
    return;
  }
  level_ = read_ignore_level(**fd_, std::move(level_), path_.size());
}

/// Keeps the entries that the walk goes through or finds.
void Directory::select(const EntryFilter& filter) {
  std::string path = path_;
  std::erase_if(entries_, [&](Entry& entry) {
    const std::string_view its_name = name(entry);
    if (!filter.hidden && its_name.front() == '.') return true;
    if (entry.type == DT_UNKNOWN) entry.type = type_of(**fd_, c_name(entry));
    if (entry.type == DT_UNKNOWN) return true;
    const bool is_directory = entry.type == DT_DIR;
    path.resize(path_.size());
    path += its_name;
    const std::string_view below = std::string_view(path).substr(filter.searched);
    entry.wanted = filter.wants(below, its_name, entry.type);
    if (!entry.wanted && !is_directory) return true;
    if (!filter.exclude.empty() && filter.exclude.matches(below, its_name, is_directory)) {
      return true;
    }
    return level_ != nullptr && is_ignored(level_.get(), path, its_name, is_directory);
  });
}

base::UniqueFd Directory::open_file(const Entry& entry) const {
  const SharedFd directory = descriptor();
  if (!directory) {
    errno = ENOENT;
    return base::UniqueFd();
  }
  if (is_file_) return base::UniqueFd(::fcntl(**directory, F_DUPFD_CLOEXEC, 0));
  base::BeneathResult opened =
      base::open_in_volume(**directory, c_name(entry), O_RDONLY | O_NOFOLLOW, 0);
  errno = opened.error_number;
  return std::move(opened.fd);
}

SharedFd Directory::descriptor() const {
  const std::lock_guard lock(mutex_);
  if (!fd_) fd_ = open_again();
  return fd_;
}

/// On a deep way only the innermost directories stay open.
void Directory::let_go_of_ancestor() const {
  const Directory* ancestor = this;
  for (std::uint32_t i = 0; i < kHeldLevels && ancestor != nullptr; ++i) {
    ancestor = ancestor->parent_.get();
  }
  // The outermost stays: the others are opened again from there.
  if (ancestor != nullptr && ancestor->parent_) ancestor->let_go();
}

void Directory::let_go() const {
  const std::lock_guard lock(mutex_);
  struct stat facts{};
  if (!fd_ || ::fstat(**fd_, &facts) != 0) return;
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  fd_.reset();
}

SharedFd Directory::open_again() const {
  const Directory* root = this;
  while (root->parent_) root = root->parent_.get();
  std::string_view rest = std::string_view(path_).substr(root->path_.size());
  base::UniqueFd reached;
  const SharedFd start = root->descriptor();
  while (!rest.empty()) {
    // As many whole names as one call takes.
    const std::size_t most = std::min<std::size_t>(rest.size(), PATH_MAX - 1);
    const std::size_t length = rest.rfind('/', most - 1) + 1;
    const std::string piece(rest.substr(0, length));
    rest.remove_prefix(length);
    base::BeneathResult opened = base::open_in_volume(reached ? *reached : **start, piece.c_str(),
                                                      O_RDONLY | O_DIRECTORY, 0);
    if (!opened.fd) return nullptr;
    reached = std::move(opened.fd);
  }
  struct stat facts{};
  const bool same = reached && ::fstat(*reached, &facts) == 0 && facts.st_dev == device_ &&
                    facts.st_ino == inode_;
  if (!same) return nullptr;  // moved or replaced: what is below it now was not asked for
  return std::make_shared<base::UniqueFd>(std::move(reached));
}

}  // namespace cove::agent

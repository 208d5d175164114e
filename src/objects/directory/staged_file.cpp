#include "objects/directory/staged_file.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "base/system/next_entry.hpp"
#include "base/system/system_clock.hpp"
#include "base/system/system_error.hpp"

namespace cove::objects {
namespace {

constexpr unsigned kFileMode = 0600;

bool is_same_file(int file, int root, const char* name) {
  struct stat opened{};
  struct stat named{};
  return ::fstat(file, &opened) == 0 && ::fstatat(root, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// A file with a name, locked. A cleaner may lock and remove it in the moment between open and
/// flock: then it is made again.
Result<std::pair<base::UniqueFd, std::string>> create_named(int root) {
  if (::mkdirat(root, kStagingDirectory, 0700) != 0 && errno != EEXIST) {
    return base::system_error(errno, "make the object store's directory for unfinished objects");
  }
  base::SystemIds ids;
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string name = std::string(kStagingDirectory) + "/" + base::random_name(ids);
    auto opened = base::open_in_volume(root, name.c_str(), O_RDWR | O_CREAT | O_EXCL, kFileMode);
    if (!opened.fd) return base::system_error(opened.error_number, "make an unfinished object");
    if (::flock(*opened.fd, LOCK_EX | LOCK_NB) == 0 &&
        is_same_file(*opened.fd, root, name.c_str())) {
      return std::pair(std::move(opened.fd), std::move(name));
    }
  }
  return Error(ErrorCode::kUnavailable, "unfinished objects are removed as soon as they are made");
}

/// linkat of an open file without a name. Through /proc, since AT_EMPTY_PATH alone needs
/// CAP_DAC_READ_SEARCH on kernels before 6.10; where /proc is not mounted, that is what is left.
int link_unnamed(int file, int directory, const char* name) {
  char path[32];
  static_cast<void>(std::snprintf(path, sizeof path, "/proc/self/fd/%d", file));
  if (::linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) == 0) return 0;
  struct stat own{};
  if (errno != ENOENT || ::stat(path, &own) == 0) return errno;
  return ::linkat(file, "", directory, name, AT_EMPTY_PATH) == 0 ? 0 : errno;
}

}  // namespace

StagedFile::StagedFile(int root, base::UniqueFd file, std::string name)
    : root_(root), file_(std::move(file)), name_(std::move(name)) {}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : root_(other.root_),
      file_(std::move(other.file_)),
      name_(std::exchange(other.name_, std::string())) {}

StagedFile::~StagedFile() {
  if (!name_.empty()) ::unlinkat(root_, name_.c_str(), 0);
}

Result<StagedFile> StagedFile::create(int root, bool unnamed) {
  if (unnamed) {
    auto opened = base::open_in_volume(root, ".", O_TMPFILE | O_RDWR, kFileMode);
    if (opened.fd) return StagedFile(root, std::move(opened.fd), {});
    // EISDIR, ENOENT: file systems and kernels that do not know the flag.
    const int error = opened.error_number;
    if (error != EOPNOTSUPP && error != EISDIR && error != ENOENT) {
      return base::system_error(error, "make an unfinished object");
    }
  }
  COVE_TRY(auto named, create_named(root));
  return StagedFile(root, std::move(named.first), std::move(named.second));
}

Result<void> StagedFile::append(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(*file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::system_error(errno, "write an object");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> StagedFile::sync() {
  if (::fsync(*file_) != 0) return base::system_error(errno, "sync an object");
  return {};
}

int StagedFile::publish(int directory, const char* name) {
  if (name_.empty()) return link_unnamed(*file_, directory, name);
  if (::linkat(root_, name_.c_str(), directory, name, 0) == 0) {
    ::unlinkat(root_, name_.c_str(), 0);
    name_.clear();
    return 0;
  }
  // File systems without hard links say EPERM.
  if (errno != EPERM && errno != EOPNOTSUPP) return errno;
  if (::renameat2(root_, name_.c_str(), directory, name, RENAME_NOREPLACE) != 0) return errno;
  name_.clear();
  return 0;
}

void remove_dead_staged_files(int root) {
  auto opened = base::open_in_volume(root, kStagingDirectory, O_RDONLY | O_DIRECTORY);
  if (!opened.fd) return;
  DIR* const entries = ::fdopendir(*opened.fd);
  if (entries == nullptr) return;
  const int directory = opened.fd.release();
  while (const dirent* const entry = base::next_entry(entries)) {
    const auto file = base::open_in_volume(directory, entry->d_name, O_RDWR);
    // A lock that is free means that its writer is gone: the kernel lets go of it with the process.
    if (file.fd && ::flock(*file.fd, LOCK_EX | LOCK_NB) == 0) {
      ::unlinkat(directory, entry->d_name, 0);
    }
  }
  ::closedir(entries);
}

}  // namespace cove::objects

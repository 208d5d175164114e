#include "runtime/assembly/owner_files.hpp"

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/next_entry.hpp"
#include "base/system/system_clock.hpp"
#include "base/system/system_error.hpp"
#include "base/text/hex.hpp"

namespace cove::runtime {
namespace {

constexpr const char* kDirectory = "owners";
constexpr const char* kToken = "token";
constexpr std::string_view kUnnamed = ".new";  // of a file that is not locked yet
constexpr int kAttempts = 16;                  // against cleaners that come in between

/// Empty where there is none. What cannot be read now (no descriptor is left) is not empty.
Result<std::string> read_small_file(int directory, const char* path) {
  const base::UniqueFd file(::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file && errno == ENOENT) return std::string();
  std::array<char, 128> buffer{};
  const ssize_t got = file ? ::read(*file, buffer.data(), buffer.size()) : -1;
  if (got < 0) return base::system_error(errno, "read '" + std::string(path) + "'");
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

Result<base::UniqueFd> open_directory(int state_directory) {
  if (::mkdirat(state_directory, kDirectory, 0700) != 0 && errno != EEXIST) {
    return base::system_error(errno, "make the directory 'owners' in the state directory");
  }
  base::UniqueFd fd(
      ::openat(state_directory, kDirectory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return base::system_error(errno, "open the directory 'owners' in the state directory");
  return fd;
}

Result<void> write_file(int directory, const std::string& name, const std::string& text) {
  const base::UniqueFd file(
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return base::system_error(errno, "make 'owners/" + name + "'");
  if (::write(*file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const int error = errno;
    ::unlinkat(directory, name.c_str(), 0);
    return base::system_error(error, "write 'owners/" + name + "'");
  }
  return ok();
}

/// Of several processes that make the token, one wins.
Result<void> make_token(int directory, IdSource& ids) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string fresh = base::random_name(ids);
    const std::string name = fresh + std::string(kUnnamed);
    COVE_TRY_VOID(write_file(directory, name, fresh));
    const bool linked = ::linkat(directory, name.c_str(), directory, kToken, 0) == 0;
    const int error = errno;
    ::unlinkat(directory, name.c_str(), 0);
    if (linked || error == EEXIST) return ok();
    // ENOENT: a cleaner took it for what a dead process left.
    if (error != ENOENT) return base::system_error(error, "make 'owners/token'");
  }
  return Error(ErrorCode::kInternal, "'owners/token' could not be kept in the state directory");
}

/// A random text made once for this directory.
Result<std::string> token_of(int directory, IdSource& ids) {
  COVE_TRY(std::string token, read_small_file(directory, kToken));
  if (base::is_hex(token, 32)) return token;
  COVE_TRY_VOID(make_token(directory, ids));
  COVE_TRY(token, read_small_file(directory, kToken));
  if (!base::is_hex(token, 32)) {
    return Error(ErrorCode::kIntegrity,
                 "'owners/token' in the state directory is damaged; remove it while no process "
                 "uses the directory");
  }
  return token;
}

/// A copy of the directory, on this machine or another, is another node: it gets another inode,
/// and where machines are cloned, the machine's id or boot differs.
Result<std::string> node_of(int directory, IdSource& ids) {
  COVE_TRY(const std::string token, token_of(directory, ids));
  struct stat info{};
  if (::fstat(directory, &info) != 0) return base::system_error(errno, "look at 'owners'");
  COVE_TRY(std::string machine, read_small_file(AT_FDCWD, "/etc/machine-id"));
  if (machine.size() < 32) {
    COVE_TRY(machine, read_small_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id"));
  }
  const std::string all = machine + "\n" + std::to_string(info.st_ino) + "\n" + token;
  return base::sha256_hex(all).substr(0, 32);
}

bool is_owner_file(std::string_view name) {
  if (name.ends_with(kUnnamed)) name.remove_suffix(kUnnamed.size());
  return base::is_hex(name, 32);
}

std::vector<std::string> owner_files(int directory) {
  std::vector<std::string> names;
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = copy >= 0 ? ::fdopendir(copy) : nullptr;
  if (listing == nullptr) {
    if (copy >= 0) ::close(copy);
    return names;
  }
  while (const dirent* entry = base::next_entry(listing)) {
    if (is_owner_file(entry->d_name)) names.emplace_back(entry->d_name);
  }
  ::closedir(listing);
  return names;
}

/// True where nobody holds the file, or it is gone.
bool is_free(int directory, const std::string& name) {
  const base::UniqueFd file(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ENOENT;
  // Shared, so that two who look at once do not take each other for the owner.
  return ::flock(*file, LOCK_SH | LOCK_NB) == 0;
}

void remove_stale(int directory) {
  for (const std::string& name : owner_files(directory)) {
    const base::UniqueFd file(
        ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && ::flock(*file, LOCK_EX | LOCK_NB) == 0) ::unlinkat(directory, name.c_str(), 0);
  }
}

struct OwnFile {
  base::UniqueFd fd;
  std::string name;
};

/// A file that is locked before it has its name: who sees the name sees the lock. One that a
/// cleaner took in between is made again.
Result<OwnFile> make_own(int directory, IdSource& ids) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    OwnFile own{{}, base::random_name(ids)};
    const std::string unnamed = own.name + std::string(kUnnamed);
    own.fd.reset(::openat(directory, unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!own.fd) return base::system_error(errno, "make a file in 'owners'");
    if (::flock(*own.fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) continue;
      return base::system_error(errno, "lock a file in 'owners'");
    }
    if (::renameat(directory, unnamed.c_str(), directory, own.name.c_str()) == 0) return own;
    if (errno != ENOENT) return base::system_error(errno, "name a file in 'owners'");
  }
  return Error(ErrorCode::kInternal, "no file of this process's own could be kept in 'owners'");
}

}  // namespace

Result<std::unique_ptr<OwnerFiles>> OwnerFiles::open(int state_directory, IdSource& ids) {
  COVE_TRY(base::UniqueFd directory, open_directory(state_directory));
  COVE_TRY(std::string node, node_of(*directory, ids));
  remove_stale(*directory);
  COVE_TRY(OwnFile own, make_own(*directory, ids));
  return std::unique_ptr<OwnerFiles>(new OwnerFiles(std::move(directory), std::move(own.fd),
                                                    std::move(node), std::move(own.name)));
}

OwnerFiles::OwnerFiles(base::UniqueFd directory, base::UniqueFd own, std::string node,
                       std::string name)
    : directory_(std::move(directory)),
      own_(std::move(own)),
      node_(std::move(node)),
      name_(std::move(name)),
      self_(node_ + "/" + name_),
      pid_(::getpid()) {}

OwnerFiles::~OwnerFiles() {
  if (::getpid() == pid_) ::unlinkat(*directory_, name_.c_str(), 0);
}

bool OwnerFiles::certainly_dead(const OwnerId& owner) const {
  const std::string prefix = node_ + "/";
  const std::string& id = owner.str();
  if (!id.starts_with(prefix)) return false;
  const std::string name = id.substr(prefix.size());
  if (!base::is_hex(name, 32) || name == name_) return false;
  return is_free(*directory_, name);
}

}  // namespace cove::runtime

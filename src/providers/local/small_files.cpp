#include "providers/local/small_files.hpp"

#include <array>
#include <cerrno>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/next_entry.hpp"
#include "base/system/system_error.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

Result<void> write_all(int fd, std::string_view text, const std::string& what) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return system_error(errno, "write " + what);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

}  // namespace

Result<UniqueFd> open_directory(int directory, const std::string& name) {
  UniqueFd fd(::openat(directory, name.c_str(),
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error(errno, "open directory '" + name + "'");
  return fd;
}

Result<UniqueFd> make_directory(int directory, const std::string& name, unsigned mode) {
  const bool made = ::mkdirat(directory, name.c_str(), mode) == 0;
  if (!made && errno != EEXIST) return system_error(errno, "make directory '" + name + "'");
  COVE_TRY(UniqueFd fd, open_directory(directory, name));
  if (made && ::fchmod(*fd, mode) != 0) {
    return system_error(errno, "set the mode of directory '" + name + "'");
  }
  return fd;
}

Result<std::string> read_small_file(int directory, const std::string& name, std::size_t limit) {
  const UniqueFd fd(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error(errno, "open '" + name + "'");
  std::string text;
  std::array<char, 4096> piece;  // filled by read before it is looked at
  for (;;) {
    const ssize_t got = ::read(*fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(errno, "read '" + name + "'");
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return Error(ErrorCode::kTooLarge,
                   "'" + name + "' is over " + std::to_string(limit) + " bytes");
    }
  }
}

Result<void> replace_file(int directory, const std::string& name, std::string_view text,
                          Durable durable) {
  // Writers of one name hold a lock, so what stands under the temporary name is left from a crash.
  const std::string temporary = name + ".new";
  ::unlinkat(directory, temporary.c_str(), 0);
  const UniqueFd fd(::openat(directory, temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return system_error(errno, "create '" + temporary + "'");
  COVE_TRY_VOID(write_all(*fd, text, "'" + temporary + "'"));
  if (durable == Durable::kYes) COVE_TRY_VOID(sync_fd(*fd, "'" + temporary + "'"));
  if (::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
    return system_error(errno, "rename '" + temporary + "'");
  }
  return ok();
}

Result<void> write_control(int directory, const std::string& name, std::string_view text) {
  const UniqueFd fd(::openat(directory, name.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return system_error(errno, "open '" + name + "'");
  return write_all(*fd, text, "'" + std::string(text) + "' to '" + name + "'");
}

Result<void> sync_fd(int fd, const std::string& what) {
  if (::fsync(fd) != 0) return system_error(errno, "sync " + what);
  return ok();
}

Result<UniqueFd> open_to_sync(int directory, const std::string& name) {
  UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error(errno, "open '" + name + "'");
  return fd;
}

Result<std::vector<std::string>> names_in(int directory) {
  // A descriptor of its own: reading moves a position that would be shared with `directory`.
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return system_error(errno, "open a directory to list it");
  DIR* raw = ::fdopendir(own);
  if (raw == nullptr) {
    const int error = errno;
    ::close(own);
    return system_error(error, "list a directory");
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(raw, &::closedir);
  std::vector<std::string> names;
  for (;;) {
    const dirent* entry = base::next_entry(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return system_error(errno, "list a directory");
  return names;
}

std::string descriptor_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

Result<UniqueFd> sealed_memory(const char* name, std::string_view bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error(errno, "make an anonymous file");
  COVE_TRY_VOID(write_all(*fd, bytes, "an anonymous file"));
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(*fd, F_ADD_SEALS, kSeals) != 0) return system_error(errno, "seal an anonymous file");
  if (::lseek(*fd, 0, SEEK_SET) != 0) return system_error(errno, "rewind an anonymous file");
  return fd;
}

}  // namespace cove::local

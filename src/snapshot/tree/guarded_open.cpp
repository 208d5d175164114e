#include "snapshot/tree/guarded_open.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"

namespace cove::snapshot {
namespace {

constexpr int kFileFlags = O_RDONLY | O_NOFOLLOW;

/// Calls `read(buffer, size)`, which says the size it needs for size 0, until it fits.
template <class Read>
ssize_t read_sized(std::string& buffer, Read read) {
  for (;;) {
    ssize_t size = read(nullptr, 0);
    if (size <= 0) {
      buffer.clear();
      return size;
    }
    buffer.resize(static_cast<std::size_t>(size));
    size = read(buffer.data(), buffer.size());
    if (size < 0 && errno == ERANGE) continue;
    if (size >= 0) buffer.resize(static_cast<std::size_t>(size));
    return size;
  }
}

}  // namespace

Error failure_at(int error_number, const char* what, const std::string& path) {
  return base::system_error(error_number, std::string(what) + " " + shown(path));
}

Error changed_meanwhile(const std::string& path, const char* how) {
  return {ErrorCode::kConflict, shown(path) + " " + how + " while it was read"};
}

Result<int> widen_mode(int directory, const std::string& name, unsigned more,
                       const std::string& path) {
  // The root itself is already open, and "." of a directory without x cannot be opened.
  base::BeneathResult opened;
  if (name != ".") opened = base::open_in_volume(directory, name.c_str(), O_PATH | O_NOFOLLOW);
  if (opened.error_number != 0) return failure_at(opened.error_number, "open", path);
  const int file = opened.fd ? *opened.fd : directory;
  struct stat status{};
  if (::fstat(file, &status) != 0) return failure_at(errno, "look at", path);
  const unsigned mode = status.st_mode & 07777U;
  if (status.st_uid != ::geteuid() || S_ISLNK(status.st_mode) || (mode & more) == more) {
    return failure_at(EACCES, "open", path);
  }
  // By the descriptor and not by the name; fchmod takes no O_PATH descriptor.
  char own[32];
  static_cast<void>(std::snprintf(own, sizeof own, "/proc/self/fd/%d", file));
  if (::chmod(own, mode | more) != 0) return failure_at(errno, "make readable", path);
  return static_cast<int>(mode);
}

Result<base::UniqueFd> open_file(int directory, const std::string& name, const struct stat& found,
                                 const std::string& path) {
  auto opened = base::open_in_volume(directory, name.c_str(), kFileFlags);
  if (!opened.fd && opened.error_number == EACCES) {
    COVE_TRY(const int mode, widen_mode(directory, name, 0400, path));
    opened = base::open_in_volume(directory, name.c_str(), kFileFlags);
    if (opened.fd && ::fchmod(*opened.fd, static_cast<mode_t>(mode)) != 0) {
      return failure_at(errno, "set back the mode of", path);
    }
  }
  if (!opened.fd) return failure_at(opened.error_number, "open", path);
  struct stat status{};
  if (::fstat(*opened.fd, &status) != 0) return failure_at(errno, "look at", path);
  if (!S_ISREG(status.st_mode) || status.st_ino != found.st_ino || status.st_dev != found.st_dev) {
    return changed_meanwhile(path, "became another file");
  }
  return std::move(opened.fd);
}

Result<std::vector<Xattr>> xattrs_of(int file, const std::string& path) {
  std::vector<Xattr> xattrs;
  std::string names;
  const ssize_t listed =
      read_sized(names, [&](char* to, std::size_t size) { return ::flistxattr(file, to, size); });
  if (listed < 0 && errno == EOPNOTSUPP) return xattrs;
  if (listed < 0) return failure_at(errno, "list the attributes of", path);
  for (std::size_t at = 0; at < names.size();) {
    const std::string name(names.c_str() + at);
    at += name.size() + 1;
    if (!name.starts_with("user.")) continue;
    std::string value;
    const ssize_t size = read_sized(value, [&](char* to, std::size_t limit) {
      return ::fgetxattr(file, name.c_str(), to, limit);
    });
    if (size < 0) return failure_at(errno, "read an attribute of", path);
    xattrs.push_back({name, value});
  }
  return xattrs;
}

Result<std::string> link_text(int directory, const std::string& name, const std::string& path) {
  std::string text(256, '\0');
  for (;;) {
    const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
    if (size < 0) return failure_at(errno, "read link", path);
    if (static_cast<std::size_t>(size) < text.size()) {
      text.resize(static_cast<std::size_t>(size));
      return text;
    }
    text.resize(text.size() * 2);
  }
}

}  // namespace cove::snapshot

#include "providers/local/sandbox/readable_copy.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr off_t kMaxFile = 8 << 20;
constexpr int kMaxDepth = 6;

Result<void> copy_link(int from, const std::string& name, int to, const std::string& as) {
  std::string target(4096, '\0');
  const ssize_t length = ::readlinkat(from, name.c_str(), target.data(), target.size());
  if (length < 0) return system_error(errno, "read the link '" + name + "'");
  target.resize(static_cast<std::size_t>(length));
  if (::symlinkat(target.c_str(), to, as.c_str()) != 0 && errno != EEXIST) {
    return system_error(errno, "make the link '" + as + "'");
  }
  return ok();
}

Result<void> copy_file(int from, const std::string& name, int to, const std::string& as) {
  const UniqueFd source(
      ::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!source || ::fstat(*source, &info) != 0) return system_error(errno, "open '" + name + "'");
  // What the world cannot read on the host, nobody in a sandbox can.
  if (!S_ISREG(info.st_mode) || (info.st_mode & S_IROTH) == 0 || info.st_size > kMaxFile) {
    return ok();
  }
  const UniqueFd target(
      ::openat(to, as.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!target) return system_error(errno, "create '" + as + "'");
  // Read and written, for the host's /etc and the state directory may be of two file systems.
  char piece[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(*source, piece, sizeof piece);
    if (got < 0) return system_error(errno, "read '" + name + "'");
    if (got == 0) break;
    if (::write(*target, piece, static_cast<std::size_t>(got)) != got) {
      return system_error(errno, "write '" + as + "'");
    }
  }
  if (::fchmod(*target, 0644) != 0) return system_error(errno, "set the mode of '" + as + "'");
  return ok();
}

// NOLINTNEXTLINE(misc-no-recursion): kMaxDepth bounds it
Result<void> copy_entry(int from, const std::string& name, int to, const std::string& as,
                        int depth) {
  struct stat info{};
  if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return ok();
  if (S_ISLNK(info.st_mode)) return copy_link(from, name, to, as);
  if (S_ISREG(info.st_mode)) return copy_file(from, name, to, as);
  if (!S_ISDIR(info.st_mode) || (info.st_mode & S_IROTH) == 0 || depth == kMaxDepth) return ok();
  COVE_TRY(const UniqueFd source, open_directory(from, name));
  COVE_TRY(const UniqueFd target, make_directory(to, as, 0755));
  COVE_TRY(const auto names, names_in(*source));
  for (const std::string& child : names) {
    COVE_TRY_VOID(copy_entry(*source, child, *target, child, depth + 1));
  }
  return ok();
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion): as deep as a path of Cove's own
Result<void> copy_readable(int from, const std::string& path, int to) {
  const auto slash = path.find('/');
  if (slash == std::string::npos) return copy_entry(from, path, to, path, 0);
  const std::string parent = path.substr(0, slash);
  const auto source = open_directory(from, parent);
  if (!source) return ok();  // a link or nothing: other distributions' layout
  COVE_TRY(const UniqueFd target, make_directory(to, parent, 0755));
  return copy_readable(**source, path.substr(slash + 1), *target);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as a path of Cove's own
Result<void> make_path(int directory, const std::string& path, unsigned mode) {
  const auto slash = path.find('/');
  const bool is_last = slash == std::string::npos;
  COVE_TRY(const UniqueFd made,
           make_directory(directory, path.substr(0, slash), is_last ? mode : 0755U));
  return is_last ? ok() : make_path(*made, path.substr(slash + 1), mode);
}

}  // namespace cove::local

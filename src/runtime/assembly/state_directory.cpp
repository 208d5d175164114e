#include "runtime/assembly/state_directory.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::runtime {
namespace {

Result<void> make_parents(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) {
      // A read-only parent that is there answers EROFS or EACCES before EEXIST.
      const int error = errno;
      struct stat info{};
      if (::stat(parent.c_str(), &info) == 0) continue;
      return base::system_error(error, "make the directory '" + parent + "'");
    }
  }
  return ok();
}

Result<void> check_closed_to_others(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return base::system_error(errno, "look at '" + path + "'");
  if (info.st_uid != ::geteuid()) {
    return Error(ErrorCode::kPermissionDenied,
                 "the state directory '" + path + "' belongs to uid " +
                     std::to_string(info.st_uid) + ", and this process runs as uid " +
                     std::to_string(::geteuid()) + "; give each user a directory of its own");
  }
  if ((info.st_mode & 077U) != 0) {
    return Error(ErrorCode::kPermissionDenied, "others may enter the state directory '" + path +
                                                   "'; close it: chmod 0700 '" + path + "'");
  }
  return ok();
}

}  // namespace

Result<base::UniqueFd> open_state_directory(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  COVE_TRY_VOID(make_parents(trimmed));
  // The umask is the host's and can only take away: what is missing is added below.
  const bool made = ::mkdir(trimmed.c_str(), 0700) == 0;
  const int make_error = errno;
  base::UniqueFd directory(::open(trimmed.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory && errno == ENOTDIR) {
    return Error(ErrorCode::kFailedPrecondition,
                 "the state directory '" + path + "' is there, but it is not a directory");
  }
  if (!directory) {
    const int error = errno == ENOENT && !made ? make_error : errno;
    return base::system_error(error, "open the state directory '" + path + "'");
  }
  if (made && ::fchmod(*directory, 0700) != 0) {
    return base::system_error(errno, "close the state directory '" + path + "' to others");
  }
  COVE_TRY_VOID(check_closed_to_others(*directory, path));
  return directory;
}

}  // namespace cove::runtime

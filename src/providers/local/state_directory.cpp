#include "providers/local/state_directory.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/system_clock.hpp"
#include "base/system/system_error.hpp"
#include "base/text/hex.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr std::size_t kMaxName = 128;

/// Makes `path` and its missing parents; those it makes are 0700.
Result<UniqueFd> make_path(const std::string& path) {
  UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at) return system_error(errno, "open '/'");
  std::size_t begin = 1;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    if (::mkdirat(*at, name.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS) {
      return system_error(errno, "make directory '" + path + "'");
    }
    // Links on the way to the state directory are the host's own choice and are followed.
    UniqueFd next(::openat(*at, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!next) return system_error(errno, "open directory '" + path + "'");
    at = std::move(next);
  }
  UniqueFd readable(::openat(*at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return system_error(errno, "open directory '" + path + "'");
  return readable;
}

Result<void> check_private(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return system_error(errno, "inspect '" + path + "'");
  if (info.st_uid != ::geteuid()) {
    return Error(
        ErrorCode::kPermissionDenied,
        "the state directory '" + path + "' belongs to uid " + std::to_string(info.st_uid));
  }
  if ((info.st_mode & 077) != 0) {
    return Error(ErrorCode::kPermissionDenied,
                 "the state directory '" + path + "' is open to others: chmod 700 it");
  }
  return ok();
}

Result<std::string> load_node_file(int root, IdSource& ids) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Result<std::string> found = read_small_file(root, "node");
    if (found && base::is_hex(*found, 32)) return *found;
    if (!found && found.error().code() != ErrorCode::kNotFound) return found.error();
    // Two first opens at once: each brings a whole file, link(2) lets one of them have the name.
    const std::string mine = "node." + base::random_name(ids);
    COVE_TRY_VOID(replace_file(root, mine, base::random_name(ids), Durable::kYes));
    const bool damaged = found.has_value();
    const int moved = damaged ? ::renameat(root, mine.c_str(), root, "node")
                              : ::linkat(root, mine.c_str(), root, "node", 0);
    const int error = errno;
    if (!damaged) ::unlinkat(root, mine.c_str(), 0);
    if (moved != 0 && error != EEXIST) return system_error(error, "create 'node'");
    COVE_TRY_VOID(sync_fd(root, "the state directory"));
  }
  return read_small_file(root, "node");
}

bool is_name(const std::string& name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxName && is_word(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_word(c) || c == '.'; });
}

}  // namespace

Result<StateDirectory> StateDirectory::open(const std::string& path, IdSource& ids) {
  if (path.empty() || path.front() != '/') {
    return Error(ErrorCode::kInvalidArgument,
                 "the state directory '" + path + "' is not an absolute path");
  }
  StateDirectory state;
  state.path_ = path;
  COVE_TRY(state.root_, make_path(path));
  COVE_TRY_VOID(check_private(*state.root_, path));
  COVE_TRY(state.node_file_, load_node_file(*state.root_, ids));
  COVE_TRY(state.volumes_, make_directory(*state.root_, "volumes", 0700));
  COVE_TRY(state.run_, make_directory(*state.root_, "run", 0700));
  return state;
}

Result<void> check_names(const VolumeRef& volume) {
  const auto refuse = [](const char* part, const std::string& value) {
    return Error(ErrorCode::kInvalidArgument, std::string(part) + " '" + value +
                                                  "' is not a name of letters, digits, '.', '_' "
                                                  "and '-', at most 128, not starting with '.'");
  };
  if (!is_name(volume.deployment.str())) return refuse("deployment", volume.deployment.str());
  if (!is_name(volume.sandbox.str())) return refuse("sandbox", volume.sandbox.str());
  if (!is_name(volume.generation.str())) return refuse("generation", volume.generation.str());
  return ok();
}

std::string path_of(const VolumeRef& volume) {
  return volume.deployment.str() + "/" + volume.sandbox.str() + "/" + volume.generation.str();
}

std::string run_name_of(const VolumeRef& volume) {
  return base::sha256_hex(path_of(volume)).substr(0, 32);
}

}  // namespace cove::local

#include "providers/local/sandbox/system_view.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;

namespace {

constexpr std::array<std::string_view, 6> kHostTops = {"usr", "bin",   "sbin",
                                                       "lib", "lib32", "lib64"};

/// Made for each sandbox, or empty in a sandbox.
constexpr std::array<std::string_view, 9> kOwnTops = {
    "proc", "dev", "sys", "tmp", "run", "home", "workspace", "boot", "lost+found"};

/// Adds one top-level entry as it is: a link as a link, a directory as a bind.
Result<void> add_entry(int directory, const std::string& path, const std::string& name,
                       SystemView& view) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return ok();
    return system_error(errno, "inspect '" + path + "/" + name + "'");
  }
  if (S_ISLNK(info.st_mode)) {
    std::string target(4096, '\0');
    const ssize_t length = ::readlinkat(directory, name.c_str(), target.data(), target.size());
    if (length < 0) return system_error(errno, "read the link '" + path + "/" + name + "'");
    target.resize(static_cast<std::size_t>(length));
    view.entries.push_back({SystemEntry::Kind::kSymlink, target, "/" + name});
  } else if (S_ISDIR(info.st_mode)) {
    view.entries.push_back({SystemEntry::Kind::kBind, path + "/" + name, "/" + name});
  }
  return ok();
}

bool is_file(int directory, const char* name) {
  struct stat info{};
  return ::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Result<SystemView> host_system_view() {
  const base::UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return system_error(errno, "open '/'");
  SystemView view;
  for (const std::string_view name : kHostTops) {
    COVE_TRY_VOID(add_entry(*root, "", std::string(name), view));
  }
  return view;
}

Result<SystemView> tree_system_view(int directory, const std::string& path) {
  COVE_TRY(auto names, names_in(directory));
  std::sort(names.begin(), names.end());
  SystemView view;
  view.own_etc = true;
  for (const std::string& name : names) {
    if (std::find(kOwnTops.begin(), kOwnTops.end(), name) != kOwnTops.end()) continue;
    COVE_TRY_VOID(add_entry(directory, path, name, view));
  }
  const bool has_usr =
      std::any_of(view.entries.begin(), view.entries.end(),
                  [](const SystemEntry& entry) { return entry.destination == "/usr"; });
  if (!has_usr) {
    return Error(ErrorCode::kInvalidArgument,
                 "the root tree has no 'usr': name a root file system, as debootstrap makes one");
  }
  view.has_passwd = is_file(directory, "etc/passwd");
  view.has_group = is_file(directory, "etc/group");
  view.has_resolv_conf = is_file(directory, "etc/resolv.conf");
  return view;
}

}  // namespace cove::local

#include "providers/local/layer/base_files.hpp"

#include <array>
#include <cerrno>
#include <set>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "providers/local/layer/accounts.hpp"
#include "providers/local/sandbox/made_up_etc.hpp"
#include "providers/local/sandbox/readable_copy.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr std::size_t kMaxText = 16U << 20U;
constexpr const char* kPackageLists = "/var/lib/dpkg/info";

/// Not here, because they may hold passwords and tokens: apt.conf.d, auth.conf.d, debconf.conf,
/// skel.
constexpr std::array kPackageManagers = {
    "adduser.conf",    "apt/keyrings", "apt/trusted.gpg.d", "ca-certificates.conf",
    "default/useradd", "deluser.conf", "dpkg/dpkg.cfg",     "dpkg/dpkg.cfg.d",
    "dpkg/origins",    "login.defs",   "pam.conf",          "pam.d",
    "shells"};

/// What pam.d wants to read, else su and runuser open no session; the host's own say nothing of
/// use.
constexpr std::array kPamFiles = {"environment", "security/limits.conf"};

/// As Debian has it.
constexpr std::string_view kDebconf =
    "Config: configdb\nTemplates: templatedb\n\n"
    "Name: config\nDriver: File\nMode: 644\nReject-Type: password\n"
    "Filename: /var/cache/debconf/config.dat\n\n"
    "Name: passwords\nDriver: File\nMode: 600\nBackup: false\nRequired: false\n"
    "Accept-Type: password\nFilename: /var/cache/debconf/passwords.dat\n\n"
    "Name: configdb\nDriver: Stack\nStack: config, passwords\n\n"
    "Name: templatedb\nDriver: File\nMode: 644\nFilename: /var/cache/debconf/templates.dat\n";

constexpr std::array kAptDirectories = {"apt/apt.conf.d", "apt/auth.conf.d", "apt/preferences.d",
                                        "apt/sources.list.d", "apt/trusted.gpg.d"};

constexpr std::array kVarDirectories = {"backups",       "cache/apt/archives/partial",
                                        "cache/debconf", "lib/apt/lists/partial",
                                        "lib/dpkg",      "lib/misc",
                                        "local",         "log/apt",
                                        "opt",           "spool"};

Result<void> write_text(int directory, const char* name, std::string_view text, mode_t mode) {
  COVE_TRY_VOID(replace_file(directory, name, text, Durable::kNo));
  if (::fchmodat(directory, name, mode, 0) == 0) return ok();
  return system_error(errno, std::string("set the mode of '") + name + "'");
}

std::string host_text(const char* path) {
  const auto text = read_small_file(AT_FDCWD, path, kMaxText);
  return text ? *text : std::string();
}

Result<void> write_accounts(int etc) {
  const Accounts accounts = system_accounts(host_text("/etc/passwd"), host_text("/etc/group"));
  COVE_TRY_VOID(write_text(etc, "passwd", accounts.passwd, 0644));
  COVE_TRY_VOID(write_text(etc, "group", accounts.group, 0644));
  COVE_TRY_VOID(write_text(etc, "shadow", accounts.shadow, 0640));
  COVE_TRY_VOID(write_text(etc, "gshadow", accounts.gshadow, 0640));
  COVE_TRY_VOID(write_text(etc, "subuid", "", 0644));
  return write_text(etc, "subgid", "", 0644);
}

/// The lines below `top` ("/var/") of what installed packages are made of, without it.
std::set<std::string> package_paths(std::string_view top) {
  std::set<std::string> paths;
  const UniqueFd lists(::open(kPackageLists, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lists) return paths;
  const auto names = names_in(*lists);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!name.ends_with(".list")) continue;
    const auto text = read_small_file(*lists, name, kMaxText);
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.starts_with(top) && line.size() > top.size()) paths.emplace(line.substr(top.size()));
    }
  }
  return paths;
}

/// Those of them that are directories on the host and open to the world, empty.
Result<void> make_package_directories(const std::string& top, int target) {
  const UniqueFd host(::open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!host) return ok();
  for (const std::string& path : package_paths(top)) {
    struct stat info{};
    if (path.find("..") != std::string::npos || path.find("//") != std::string::npos ||
        ::fstatat(*host, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode) ||
        (info.st_mode & (S_IROTH | S_IXOTH)) != (S_IROTH | S_IXOTH)) {
      continue;
    }
    struct stat present{};
    if (::fstatat(target, path.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0) continue;
    const auto made = make_path(target, path, info.st_mode & 01777);
    // A link of Cove's own (/var/lock) stands where a package had a directory.
    if (!made && is_exhausted(made.error())) return made.error();
  }
  return ok();
}

Result<void> make_link(int directory, const char* target, const char* name) {
  if (::symlinkat(target, directory, name) == 0 || errno == EEXIST) return ok();
  return system_error(errno, std::string("make the link '") + name + "'");
}

}  // namespace

Result<void> fill_etc(int made_up_etc, int etc) {
  COVE_TRY(const auto names, names_in(made_up_etc));
  for (const std::string& name : names) COVE_TRY_VOID(copy_readable(made_up_etc, name, etc));
  COVE_TRY(const UniqueFd host, open_directory(AT_FDCWD, "/etc"));
  for (const std::string& name : MadeUpEtc::bound_directories()) {
    COVE_TRY_VOID(copy_readable(*host, name, etc));
  }
  for (const char* name : kPackageManagers) COVE_TRY_VOID(copy_readable(*host, name, etc));
  for (const char* name : kAptDirectories) COVE_TRY_VOID(make_path(etc, name, 0755));
  COVE_TRY_VOID(make_path(etc, "skel", 0755));
  COVE_TRY_VOID(make_package_directories("/etc/", etc));
  COVE_TRY_VOID(make_path(etc, "security", 0755));
  for (const char* name : kPamFiles) COVE_TRY_VOID(write_text(etc, name, "", 0644));
  COVE_TRY_VOID(write_text(etc, "debconf.conf", kDebconf, 0644));
  return write_accounts(etc);
}

Result<void> fill_var(int var) {
  for (const char* name : kVarDirectories) COVE_TRY_VOID(make_path(var, name, 0755));
  COVE_TRY_VOID(make_path(var, "tmp", 01777));
  COVE_TRY_VOID(make_path(var, "mail", 0755));
  COVE_TRY_VOID(make_link(var, "/run", "run"));
  COVE_TRY_VOID(make_link(var, "/run/lock", "lock"));
  return make_package_directories("/var/", var);
}

Result<void> fill_package_locks(int dpkg) {
  COVE_TRY_VOID(write_text(dpkg, "lock", "", 0640));
  COVE_TRY_VOID(write_text(dpkg, "lock-frontend", "", 0640));
  COVE_TRY(const UniqueFd triggers, make_directory(dpkg, "triggers", 0755));
  return write_text(*triggers, "Lock", "", 0600);
}

}  // namespace cove::local

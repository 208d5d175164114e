#include "providers/local/sandbox/made_up_etc.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/system_error.hpp"
#include "providers/local/sandbox/readable_copy.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/volume/tree_removal.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

struct MadeFile {
  const char* name;
  std::string_view text;
};

constexpr std::array kMadeFiles = {
    MadeFile{"passwd",
             "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
             "sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/sh\n"
             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    MadeFile{"group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"},
    MadeFile{"hosts", "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"},
    MadeFile{"hostname", "sandbox\n"},
    MadeFile{"nsswitch.conf",
             "passwd: files\ngroup: files\nhosts: files dns\nnetworks: files\n"
             "protocols: files\nservices: files\n"},
    // Covered by the host's where the policy grants its network.
    MadeFile{"resolv.conf", ""},
};

/// Of the host's /etc, what programs read and what holds no secret by its nature. Not here, though
/// the world can read them: whatever may hold tokens and proxies with passwords (environment,
/// gitconfig, npmrc, pip.conf, wgetrc, profile.d), and who works on the host.
constexpr std::array kHostEntries = {"ld.so.cache",
                                     "ld.so.conf",
                                     "ld.so.conf.d",
                                     "ssl/openssl.cnf",
                                     "crypto-policies",
                                     "localtime",
                                     "timezone",
                                     "locale.alias",
                                     "locale.conf",
                                     "os-release",
                                     "debian_version",
                                     "mime.types",
                                     "magic",
                                     "magic.mime",
                                     "protocols",
                                     "services",
                                     "rpc",
                                     "host.conf",
                                     "gai.conf",
                                     "inputrc",
                                     "bash.bashrc",
                                     "profile",
                                     "perl",
                                     "python3",
                                     "terminfo",
                                     "fonts/conf.d",
                                     "fonts/fonts.conf"};

/// Directories of the same kind with hundreds of entries.
constexpr std::array kBoundEntries = {"alternatives", "ssl/certs", "pki/tls/certs",
                                      "pki/ca-trust/extracted", "ca-certificates/extracted"};

/// Directories of language runtimes whose names carry a version.
constexpr std::array<std::string_view, 4> kHostPrefixes = {"java-", "python3.", "ImageMagick-",
                                                           "R"};

void add_facts(base::Sha256& hash, const std::string& name, const struct stat& info) {
  hash.update(name + ":" + std::to_string(info.st_ino) + ":" + std::to_string(info.st_size) + ":" +
              std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) +
              ":" + std::to_string(info.st_mode) + "\n");
}

/// Files by their times, directories by theirs: what replaces a file by a rename, as package
/// managers do, changes the directory. What lies deeper is covered by the package manager's own
/// status file.
std::string fingerprint_of(int host_etc, const std::vector<std::string>& entries) {
  base::Sha256 hash;
  for (const auto& made : kMadeFiles) hash.update(made.text);
  for (const std::string& bound : MadeUpEtc::bound_directories()) hash.update(bound + "\n");
  struct stat info{};
  for (const std::string& name : entries) {
    if (::fstatat(host_etc, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      add_facts(hash, name, info);
    }
  }
  if (::stat("/var/lib/dpkg/status", &info) == 0) add_facts(hash, "packages", info);
  return hash.hex();
}

std::vector<std::string> entries_of(int host_etc) {
  std::vector<std::string> entries(kHostEntries.begin(), kHostEntries.end());
  const auto names = names_in(host_etc);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    for (const std::string_view prefix : kHostPrefixes) {
      if (name.starts_with(prefix)) entries.push_back(name);
    }
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

Result<void> write_made_file(int target, const MadeFile& made) {
  COVE_TRY_VOID(replace_file(target, made.name, made.text, Durable::kNo));
  if (::fchmodat(target, made.name, 0644, 0) != 0) {
    return system_error(errno, std::string("set the mode of '") + made.name + "'");
  }
  return ok();
}

/// Builds the whole directory beside the old one.
Result<void> build(int system, const std::string& name, int host_etc,
                   const std::vector<std::string>& entries) {
  COVE_TRY_VOID(remove_tree(system, name));
  COVE_TRY(const UniqueFd target, make_directory(system, name, 0755));
  for (const std::string& path : entries) COVE_TRY_VOID(copy_readable(host_etc, path, *target));
  for (const MadeFile& made : kMadeFiles) COVE_TRY_VOID(write_made_file(*target, made));
  for (const std::string& bound : MadeUpEtc::bound_directories()) {
    COVE_TRY_VOID(make_path(*target, bound, 0755));
  }
  return ok();
}

/// Puts what was built in the place of what is there, entry by entry: sandboxes that run have the
/// directory bound and see the new files in it.
Result<void> install(int system, const std::string& built) {
  COVE_TRY(const UniqueFd from, open_directory(system, built));
  COVE_TRY(const UniqueFd to, make_directory(system, "etc", 0755));
  COVE_TRY(const auto fresh, names_in(*from));
  for (const std::string& name : fresh) {
    // What was there goes into the directory that is deleted below.
    const bool replaced =
        ::renameat2(*from, name.c_str(), *to, name.c_str(), RENAME_EXCHANGE) == 0 ||
        ::renameat2(*from, name.c_str(), *to, name.c_str(), RENAME_NOREPLACE) == 0;
    if (!replaced) return system_error(errno, "install '" + name + "'");
  }
  COVE_TRY(const auto present, names_in(*to));
  for (const std::string& name : present) {
    if (std::find(fresh.begin(), fresh.end(), name) != fresh.end()) continue;
    if (::renameat2(*to, name.c_str(), *from, name.c_str(), RENAME_NOREPLACE) != 0) {
      return system_error(errno, "remove '" + name + "'");
    }
  }
  return remove_tree(system, built);
}

Result<UniqueFd> lock_directory(int system) {
  UniqueFd lock(::openat(system, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) return system_error(errno, "open the lock of 'system'");
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (::fcntl(*lock, F_OFD_SETLKW, &whole) != 0) {
    if (errno != EINTR) return system_error(errno, "lock 'system'");
  }
  return lock;
}

Result<void> update(int system, int host_etc, const std::vector<std::string>& entries,
                    const std::string& fingerprint) {
  COVE_TRY(const UniqueFd lock, lock_directory(system));
  const auto known = read_small_file(system, "fingerprint");
  if (known && *known == fingerprint) return ok();
  COVE_TRY_VOID(build(system, "etc.new", host_etc, entries));
  COVE_TRY_VOID(install(system, "etc.new"));
  return replace_file(system, "fingerprint", fingerprint, Durable::kNo);
}

}  // namespace

std::vector<std::string> MadeUpEtc::bound_directories() {
  std::vector<std::string> found;
  for (const char* name : kBoundEntries) {
    struct stat info{};
    if (::lstat((std::string("/etc/") + name).c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
        (info.st_mode & S_IROTH) != 0) {
      found.emplace_back(name);
    }
  }
  return found;
}

Result<UniqueFd> MadeUpEtc::refresh() {
  const UniqueFd host_etc(::open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!host_etc) return system_error(errno, "open '/etc'");
  const auto entries = entries_of(*host_etc);
  const std::string fingerprint = fingerprint_of(*host_etc, entries);
  COVE_TRY(const UniqueFd system, make_directory(state_, "system", 0700));
  const std::lock_guard guard(mutex_);
  if (fingerprint != fingerprint_) {
    COVE_TRY_VOID(update(*system, *host_etc, entries, fingerprint));
    fingerprint_ = fingerprint;
  }
  return open_directory(*system, "etc");
}

}  // namespace cove::local

#include "providers/local/layer/system_base.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr std::size_t kLongestName = 64;
constexpr const char* kPackages = "/var/lib/dpkg";

/// Directories that base packages expect to find; nothing can be written there.
constexpr const char* kEmptyTops[] = {"/boot", "/media", "/mnt", "/sys"};

Result<UniqueFd> open_lower(int root, const std::string& path) {
  UniqueFd fd(::openat(root, path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return system_error(errno, "open the system directory '" + path + "'");
  return fd;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.' || c == '+';
         });
}

/// Adds the view's directories as overlays and the rest as it is.
Result<void> add_view(SystemView view, int root, SystemBase& base) {
  for (SystemEntry& entry : view.entries) {
    if (entry.kind != SystemEntry::Kind::kBind) {
      base.others.push_back(std::move(entry));
      continue;
    }
    const std::string name = entry.destination.substr(1);
    if (!is_plain_name(name)) {
      return Error(ErrorCode::kUnsupported, "the root tree has a top directory with the name " +
                                                base::quoted(name) +
                                                ", which a writable system cannot have: rename it");
    }
    COVE_TRY(UniqueFd lower, open_lower(root, name));
    base.overlaid.push_back({name, entry.destination, std::move(lower), base.is_host});
  }
  return ok();
}

bool is_same(int directory, const char* path) {
  struct stat one{};
  struct stat other{};
  return ::fstat(directory, &one) == 0 && ::stat(path, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// HOME is /home/sandbox for root too; what has /root built in finds it there.
void add_common(SystemBase& base) {
  base.others.push_back({SystemEntry::Kind::kSymlink, "/home/sandbox", "/root"});
  for (const char* path : kEmptyTops) {
    const auto is_it = [&](const OverlaidDirectory& one) { return one.destination == path; };
    if (std::any_of(base.overlaid.begin(), base.overlaid.end(), is_it)) continue;
    base.others.push_back({SystemEntry::Kind::kEmpty, "", path});
  }
}

}  // namespace

Result<SystemBase> host_system_base() {
  COVE_TRY(const UniqueFd root, open_lower(AT_FDCWD, "/"));
  SystemBase base;
  base.identity = "host";
  base.is_host = true;
  COVE_TRY(SystemView view, host_system_view());
  COVE_TRY_VOID(add_view(std::move(view), *root, base));
  base.made = {"etc", "opt", "srv", "var"};
  UniqueFd packages(::open(kPackages, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (packages) base.overlaid.push_back({"dpkg", kPackages, std::move(packages), true});
  base.has_resolv_conf = true;
  add_common(base);
  return base;
}

Result<SystemBase> tree_system_base(int directory, const std::string& path) {
  // All of a tree is the sandbox's, so this one never is one.
  if (is_same(directory, "/")) {
    return Error(
        ErrorCode::kInvalidArgument,
        "policy.root_tree is the host's own root: with a writable system all of it could be "
        "read inside; name another tree, or none for the host's system directories");
  }
  SystemBase base;
  base.identity = "tree " + path;
  COVE_TRY(SystemView view, tree_system_view(directory, ""));
  base.has_resolv_conf = view.has_resolv_conf;
  std::erase_if(view.entries,
                [](const SystemEntry& entry) { return entry.destination == "/root"; });
  COVE_TRY_VOID(add_view(std::move(view), directory, base));
  add_common(base);
  return base;
}

}  // namespace cove::local

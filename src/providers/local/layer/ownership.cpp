#include "providers/local/layer/ownership.hpp"

#include <cerrno>
#include <string>
#include <vector>

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

constexpr auto kNoChange = static_cast<std::uint32_t>(-1);

struct Change {
  std::uint32_t from = kNoChange;  ///< kNoChange: whoever it belongs to
  std::uint32_t to = 0;

  std::uint32_t of(std::uint32_t id) const {
    return from == kNoChange || id == from ? to : kNoChange;
  }
};

/// Changes one entry, where it is to be changed. Says whether it is a directory.
Result<bool> change_entry(int directory, const std::string& name, const Change& change) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_error(errno, "inspect a file of a volume");
  }
  const std::uint32_t uid = change.of(info.st_uid);
  const std::uint32_t gid = change.of(info.st_gid);
  if (uid != kNoChange || gid != kNoChange) {
    if (::fchownat(directory, name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_error(errno, "change the owner of a file of a volume");
    }
    // A change of owner takes these bits away.
    if (S_ISREG(info.st_mode) && (info.st_mode & (S_ISUID | S_ISGID)) != 0 &&
        ::fchmodat(directory, name.c_str(), info.st_mode & 07777, 0) != 0) {
      return system_error(errno, "set the mode of a file of a volume");
    }
  }
  return S_ISDIR(info.st_mode);
}

/// Changes what is in a directory and says which directories are.
Result<std::vector<std::string>> change_entries(int directory, const Change& change) {
  std::vector<std::string> directories;
  COVE_TRY(const auto names, names_in(directory));
  for (const std::string& name : names) {
    COVE_TRY(const bool is_directory, change_entry(directory, name, change));
    if (is_directory) directories.push_back(name);
  }
  return directories;
}

Result<void> change_all(int top, const Change& change) {
  COVE_TRY(UniqueFd here, open_directory(top, "."));
  struct stat info{};
  if (::fstat(*here, &info) != 0) return system_error(errno, "inspect a directory of a volume");
  if (::fchown(*here, change.of(info.st_uid), change.of(info.st_gid)) != 0) {
    return system_error(errno, "change the owner of a directory of a volume");
  }
  // What is still to be visited of each directory on the way down. Nothing runs here, so `..` is
  // where this came from.
  std::vector<std::vector<std::string>> pending;
  COVE_TRY(auto first, change_entries(*here, change));
  pending.push_back(std::move(first));
  for (;;) {
    if (pending.back().empty()) {
      pending.pop_back();
      if (pending.empty()) return ok();
      here.reset(::openat(*here, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!here) return system_error(errno, "open a directory of a volume");
      continue;
    }
    const std::string name = std::move(pending.back().back());
    pending.back().pop_back();
    COVE_TRY(here, open_directory(*here, name));
    COVE_TRY(auto below, change_entries(*here, change));
    pending.push_back(std::move(below));
  }
}

}  // namespace

Result<void> give_all(int directory, std::uint32_t owner) {
  return change_all(directory, {kNoChange, owner});
}

Result<void> change_owner(int directory, std::uint32_t from, std::uint32_t to) {
  return change_all(directory, {from, to});
}

}  // namespace cove::local

#include "providers/local/layer/system_part.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"
#include "providers/local/layer/base_files.hpp"
#include "providers/local/layer/ownership.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/volume/tree_removal.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr const char* kUnfinished = "system.new";
constexpr const char* kBaseFile = "base";

std::string package_stamp() {
  struct stat info{};
  if (::stat("/var/lib/dpkg/status", &info) != 0) return {};
  return std::to_string(info.st_ino) + ":" + std::to_string(info.st_size) + ":" +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

/// Says which base a part has; another one would show other files under the changes.
Result<void> check_base(int part, const SystemBase& base) {
  COVE_TRY(const std::string found, read_small_file(part, kBaseFile));
  if (found == base.identity + "\n") return ok();
  return Error(ErrorCode::kFailedPrecondition,
               "the system layer of this volume lies over " +
                   base::quoted(found.substr(0, found.find('\n'))) + ", not over " +
                   base::quoted(base.identity) +
                   ": set policy.root_tree back, or archive the sandbox (its system goes then) or "
                   "destroy it");
}

Result<void> make_overlay_part(int all, const std::string& name) {
  COVE_TRY(const UniqueFd part, make_directory(all, name, 0700));
  for (const char* inner : {"upper", "work", "merged"}) {
    COVE_TRY(const UniqueFd made, make_directory(*part, inner, 0755));
  }
  return ok();
}

/// Has the kernel write the files below a directory that Cove made, so that the next commit of the
/// file system's journal makes them durable together. One sync for each would take seconds, and a
/// sync of the whole file system waits for everybody's files.
Result<void> write_out(int directory) {
  COVE_TRY(const auto names, names_in(directory));
  for (const std::string& name : names) {
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_error(errno, "inspect the system layer");
    }
    if (S_ISDIR(info.st_mode)) {
      COVE_TRY(const UniqueFd child, open_directory(directory, name));
      COVE_TRY_VOID(write_out(*child));
    } else if (S_ISREG(info.st_mode) && info.st_size > 0) {
      const UniqueFd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      constexpr unsigned kWriteAndWait =
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
      if (!file || ::sync_file_range(*file, 0, 0, kWriteAndWait) != 0) {
        return system_error(errno, "write the system layer");
      }
    }
  }
  return ok();
}

}  // namespace

struct SystemParts::Making {
  const SystemBase& base;
  int made_up_etc;
  const std::optional<UidRange>& range;

  Result<void> give(int file, std::uint32_t uid, std::uint32_t gid, mode_t mode) const {
    if (uid >= UidRange::kCount || gid >= UidRange::kCount) uid = gid = UidRange::kCount - 1;
    // The mode last: a change of owner takes bits of it away.
    if ((!range || ::fchown(file, range->first + uid, range->first + gid) == 0) &&
        ::fchmod(file, mode & 07777) == 0) {
      return ok();
    }
    return system_error(errno, "give a part of the system layer to the sandbox");
  }

  /// Makes the directories of `path` below an upper directory, as the lower ones are.
  Result<UniqueFd> make_above(int upper, int lower, const std::string& path) const {
    COVE_TRY(UniqueFd parent, open_directory(upper, "."));
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      struct stat info{};
      if (::fstatat(lower, path.substr(0, end).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return system_error(errno, "inspect a system directory");
      }
      COVE_TRY(UniqueFd next, make_directory(*parent, path.substr(at, end - at), 0755));
      COVE_TRY_VOID(give(*next, info.st_uid, info.st_gid, info.st_mode));
      parent = std::move(next);
      at = end + 1;
    }
    return parent;
  }

  /// Makes the placeholder of an entry, unless there is something.
  Result<void> cover(int parent, const std::string& name, const UnreadableEntry& entry) const {
    struct stat present{};
    if (::fstatat(parent, name.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0) return ok();
    UniqueFd made;
    if (entry.is_directory) {
      COVE_TRY(made, make_directory(parent, name, 0700));
      if (::fsetxattr(*made, "trusted.overlay.opaque", "y", 1, 0) != 0) {
        return system_error(errno, "cover a directory of the system layer");
      }
    } else {
      made.reset(::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (!made) return system_error(errno, "cover a file of the system layer");
    }
    return give(*made, entry.uid, entry.gid, entry.mode);
  }
};

Result<SystemPart> SystemParts::open(int volume, const SystemBase& base, int made_up_etc,
                                     const std::optional<UidRange>& range) {
  const Making making{base, made_up_etc, range};
  Result<UniqueFd> part = open_directory(volume, kSystemPart);
  if (!part) {
    if (part.error().code() != ErrorCode::kNotFound) return part.error();
    COVE_TRY_VOID(make(volume, making));
    COVE_TRY(part, open_directory(volume, kSystemPart));
  }
  COVE_TRY_VOID(check_base(**part, base));
  SystemPart opened;
  COVE_TRY(opened.overlaid, open_directory(**part, "overlaid"));
  for (const OverlaidDirectory& directory : base.overlaid) {
    struct stat info{};
    if (::fstatat(*opened.overlaid, directory.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      continue;
    }
    // The base has gained a directory since.
    COVE_TRY_VOID(make_overlay_part(*opened.overlaid, directory.name));
    COVE_TRY(const UniqueFd added, open_directory(*opened.overlaid, directory.name));
    COVE_TRY_VOID(fill_overlay(*added, directory, making));
  }
  COVE_TRY(const UniqueFd made, open_directory(**part, "made"));
  for (const std::string& name : base.made) {
    COVE_TRY(UniqueFd directory, open_directory(*made, name));
    opened.made.push_back(std::move(directory));
  }
  return opened;
}

Result<void> SystemParts::make(int volume, const Making& making) {
  COVE_TRY_VOID(remove_tree(volume, kUnfinished));
  COVE_TRY(const UniqueFd part, make_directory(volume, kUnfinished, 0700));
  COVE_TRY(const UniqueFd overlaid, make_directory(*part, "overlaid", 0700));
  for (const OverlaidDirectory& directory : making.base.overlaid) {
    COVE_TRY_VOID(make_overlay_part(*overlaid, directory.name));
    COVE_TRY(const UniqueFd added, open_directory(*overlaid, directory.name));
    COVE_TRY_VOID(fill_overlay(*added, directory, making));
  }
  COVE_TRY(const UniqueFd made, make_directory(*part, "made", 0700));
  for (const std::string& name : making.base.made) {
    COVE_TRY(const UniqueFd directory, make_directory(*made, name, 0755));
    if (name == "etc") COVE_TRY_VOID(fill_etc(making.made_up_etc, *directory));
    if (name == "var") COVE_TRY_VOID(fill_var(*directory));
    if (making.range) COVE_TRY_VOID(give_all(*directory, making.range->first));
  }
  COVE_TRY_VOID(replace_file(*part, kBaseFile, making.base.identity + "\n", Durable::kNo));
  // What a crash of the machine leaves under the name is whole: nobody makes it again.
  COVE_TRY_VOID(write_out(*made));
  COVE_TRY_VOID(sync_fd(*part, "the system layer"));
  if (::renameat(volume, kUnfinished, volume, kSystemPart) != 0) {
    return system_error(errno, "name the system layer");
  }
  return sync_fd(volume, "the volume's directory");
}

/// The upper directory looks as the lower one does.
Result<void> SystemParts::fill_overlay(int part, const OverlaidDirectory& directory,
                                       const Making& making) {
  COVE_TRY(const UniqueFd upper, open_directory(part, "upper"));
  struct stat info{};
  if (::fstat(*directory.lower, &info) != 0) {
    return system_error(errno, "inspect a system directory");
  }
  COVE_TRY_VOID(making.give(*upper, info.st_uid, info.st_gid, info.st_mode));
  if (!directory.is_guarded) return ok();
  if (directory.name == "dpkg") {
    COVE_TRY_VOID(fill_package_locks(*upper));
    if (making.range) COVE_TRY_VOID(give_all(*upper, making.range->first));
  }
  return put_placeholders(*upper, directory, making);
}

/// Package managers cannot replace what they cannot read. So what the guard refuses has an empty
/// file or directory of the same mode and owner over it; it is the guard that protects, not these,
/// and what the host makes later has none.
Result<void> SystemParts::put_placeholders(int upper, const OverlaidDirectory& directory,
                                           const Making& making) {
  COVE_TRY(const auto entries, unreadable(directory));
  for (const UnreadableEntry& entry : entries) {
    const auto slash = entry.path.rfind('/');
    const bool is_deep = slash != std::string::npos;
    const auto parent =
        making.make_above(upper, *directory.lower, entry.path.substr(0, is_deep ? slash : 0));
    // It went since it was seen.
    if (!parent && parent.error().code() == ErrorCode::kNotFound) continue;
    if (!parent) return parent.error();
    COVE_TRY_VOID(making.cover(**parent, entry.path.substr(is_deep ? slash + 1 : 0), entry));
  }
  return ok();
}

Result<std::vector<UnreadableEntry>> SystemParts::unreadable(const OverlaidDirectory& directory) {
  const std::string stamp = package_stamp();
  const std::lock_guard guard(mutex_);
  Known& known = known_[directory.name];
  if (stamp.empty() || known.stamp != stamp) {
    COVE_TRY(known.entries, unreadable_entries(*directory.lower));
    known.stamp = stamp;
  }
  return known.entries;
}

}  // namespace cove::local

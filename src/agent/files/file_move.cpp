#include "agent/files/file_move.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>

#include "agent/files/file_facts.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

Error refused(int error_number, const MoveNames& shown) {
  switch (error_number) {
    case ENOENT: return {ErrorCode::kNotFound, shown.from + " does not exist any more"};
    case EEXIST: return {ErrorCode::kAlreadyExists, shown.to + " exists already"};
    case ENOTEMPTY:
      return {ErrorCode::kFailedPrecondition,
              shown.to + " is a directory with something in it: remove it first"};
    case EISDIR:
      return {ErrorCode::kFailedPrecondition,
              shown.to + " is a directory; give the new path itself, with the name"};
    case ENOTDIR:
      return {ErrorCode::kFailedPrecondition,
              shown.to + " is no directory, and " + shown.from + " is one"};
    case EINVAL: return {ErrorCode::kInvalidArgument, shown.to + " is inside " + shown.from};
    default: return base::system_error(error_number, "move " + shown.from + " to " + shown.to);
  }
}

}  // namespace

Result<FileInfo> move_place(const Place& from, const Place& to, const MoveOptions& options,
                            const MoveNames& shown, FileLocks& locks) {
  const auto held = locks.hold_both(*from.parent, from.name, *to.parent, to.name);
  const unsigned flags = options.overwrite ? 0 : RENAME_NOREPLACE;
  if (::renameat2(*from.parent, from.name.c_str(), *to.parent, to.name.c_str(), flags) != 0) {
    return refused(errno, shown);
  }
  struct stat facts{};
  if (::fstatat(*to.parent, to.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return base::system_error(errno, "look at " + shown.to);
  }
  FileInfo info = info_of(facts, to.below);
  if (info.type == FileType::kSymlink) {
    COVE_TRY(info.link_target, link_target(*to.parent, to.name));
  }
  return info;
}

}  // namespace cove::agent

#include "providers/local/volume/tree_removal.hpp"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

/// Opens a subdirectory for deleting in it; one without permissions gets its owner's first.
Result<UniqueFd> open_for_removal(int parent, const std::string& name) {
  const UniqueFd pinned(
      ::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!pinned) return system_error(errno, "open a directory to delete it");
  struct stat info{};
  if (::fstat(*pinned, &info) != 0) return system_error(errno, "inspect a directory to delete it");
  // Also needed to move it: its `..` entry is written then.
  if (::geteuid() != 0 && (info.st_mode & 0700) != 0700 &&
      ::chmod(descriptor_path(*pinned).c_str(), 0700) != 0) {
    return system_error(errno, "open up a directory to delete it");
  }
  UniqueFd fd(::openat(*pinned, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error(errno, "open a directory to delete it");
  return fd;
}

/// Deletes the files of `directory` and moves its subdirectories up into `top`, under names that
/// only grow: a depth of 100,000 needs no stack and no descriptors.
class Flattening {
 public:
  explicit Flattening(int top) : top_(top) {}

  Result<void> empty(int directory) {
    for (;;) {
      COVE_TRY(const auto names, names_in(directory));
      if (names.empty()) return ok();
      for (const std::string& name : names) COVE_TRY_VOID(drop(directory, name));
    }
  }

 private:
  Result<void> drop(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return ok();
    if (errno != EISDIR && errno != EPERM) return system_error(errno, "delete a file");
    COVE_TRY(const UniqueFd child, open_for_removal(directory, name));
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) return ok();
    if (errno != ENOTEMPTY && errno != EEXIST) return system_error(errno, "delete a directory");
    return directory == top_ ? empty_in_place(*child, name) : move_up(directory, name);
  }

  Result<void> empty_in_place(int child, const std::string& name) {
    COVE_TRY_VOID(empty_once(child));
    if (::unlinkat(top_, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
      return system_error(errno, "delete a directory");
    }
    return ok();
  }

  Result<void> empty_once(int child) {
    COVE_TRY(const auto names, names_in(child));
    for (const std::string& name : names) COVE_TRY_VOID(drop(child, name));
    return ok();
  }

  Result<void> move_up(int directory, const std::string& name) {
    for (;;) {
      // A name that is taken (by the sandbox's own wish, or by an earlier try) is skipped.
      const std::string target = ".removed-" + std::to_string(next_++);
      if (::renameat2(directory, name.c_str(), top_, target.c_str(), RENAME_NOREPLACE) == 0) {
        return ok();
      }
      if (errno != EEXIST) return system_error(errno, "move a directory to delete it");
    }
  }

  int top_;
  std::uint64_t next_ = 0;
};

}  // namespace

Result<void> remove_tree(int directory, const std::string& name) {
  Result<UniqueFd> top = open_for_removal(directory, name);
  if (!top) {
    if (top.error().code() == ErrorCode::kNotFound) return ok();
    return top.error();
  }
  COVE_TRY_VOID(Flattening(**top).empty(**top));
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return system_error(errno, "delete directory '" + name + "'");
  }
  return ok();
}

}  // namespace cove::local

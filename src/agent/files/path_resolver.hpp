/// PathResolver: from a caller's path to descriptors, under the path rule (agent/files.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cove/guest.hpp>
#include <cove/result.hpp>

#include "agent/files/path_walk.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

struct OpenedPath {
  base::UniqueFd fd;
  std::string below;  ///< the real path below the root; empty for the root
};

/// Any thread; borrows what it is made of. Where the root itself was closed to the user who owns it
/// (chmod 000 /workspace) it is opened again (u+rwx), if its descriptor is no O_PATH one.
class PathResolver {
 public:
  PathResolver(int root, std::string_view root_path) : root_(root), root_path_(root_path) {}

  /// Opens what `path` names with `flags`; a link at the end is followed unless O_NOFOLLOW (then
  /// only together with O_PATH). One system call where no link is on the way. Errors: as PathWalk,
  /// kNotFound, kPermissionDenied; kFailedPrecondition - a FIFO, socket or device (where not
  /// O_PATH), or no directory where O_DIRECTORY.
  Result<OpenedPath> open(const GuestPath& path, int flags) const;

  /// The same where one call does it and the kernel need not ask the disk; else none.
  std::optional<OpenedPath> open_cached(const GuestPath& path, int flags) const;

  /// Finds the directory and the name that `path` stands for, so that something can be made,
  /// replaced or removed there. The session's directory itself is never made.
  Result<Place> locate(const GuestPath& path, const WalkRules& rules) const;

  /// The path as errors show it.
  std::string shown(const GuestPath& path) const;

 private:
  Result<void> check(const GuestPath& path) const;
  Result<Place> locate_once(const GuestPath& path, const WalkRules& rules) const;
  std::optional<std::string> direct(const GuestPath& path) const;
  Result<OpenedPath> open_by_walk(const GuestPath& path, int flags) const;

  int root_;
  std::string_view root_path_;
};

}  // namespace cove::agent

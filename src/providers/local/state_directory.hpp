/// StateDirectory: what the local provider keeps on this machine, opened once, by descriptors.
///
///     <state_dir>/node                                         random name of this directory
///     <state_dir>/volumes/<deployment>/<sandbox>/<generation>/ volumes
///     <state_dir>/run/<short>/                                 sockets and records of instances
///     <state_dir>/agent/<build id>/                            cove-agent, cove-launcher
///     <state_dir>/system/etc/                                  the /etc that sandboxes see
///
/// Every directory is 0700 and belongs to the process's user; docs/formats.md has the details.
#pragma once

#include <string>

#include <cove/id_source.hpp>
#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

class StateDirectory {
 public:
  /// Makes what is missing. Errors: kPermissionDenied - it belongs to another user or others may
  /// enter it; kInvalidArgument - not an absolute path.
  static Result<StateDirectory> open(const std::string& path, IdSource& ids);

  const std::string& path() const noexcept { return path_; }
  const std::string& node_file() const noexcept { return node_file_; }
  int root() const noexcept { return *root_; }
  int volumes() const noexcept { return *volumes_; }
  int run() const noexcept { return *run_; }

 private:
  std::string path_;
  std::string node_file_;  ///< 32 hex: what `node` holds
  base::UniqueFd root_;
  base::UniqueFd volumes_;
  base::UniqueFd run_;
};

/// kInvalidArgument unless the three names can be file names: `[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}`.
Result<void> check_names(const VolumeRef& volume);

/// "deployment/sandbox/generation": the path below volumes/, and how messages name a volume.
std::string path_of(const VolumeRef& volume);

/// The name of a volume's directory below run/: 32 hex of the sha256 of path_of.
std::string run_name_of(const VolumeRef& volume);

}  // namespace cove::local

/// What a writable system layer lies over: the host's allow-listed system, or a tree.
#pragma once

#include <string>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "providers/local/sandbox/system_view.hpp"

namespace cove::local {

/// A directory that gets an overlay.
struct OverlaidDirectory {
  std::string name;         ///< of its part on the volume
  std::string destination;  ///< absolute, inside
  base::UniqueFd lower;
  bool is_guarded = false;  ///< what the world cannot read in it stays unreadable
};

struct SystemBase {
  std::string identity;                     ///< a volume's layer lies over one base for ever
  bool is_host = false;                     ///< else a tree
  std::vector<OverlaidDirectory> overlaid;  ///< in the order in which they are mounted inside
  std::vector<std::string> made;            ///< top directories that lie wholly on the volume
  std::vector<SystemEntry> others;          ///< links, empty directories
  bool has_resolv_conf = false;
};

/// The host's /usr (with /bin, /sbin and /lib* where they are directories) and package database,
/// guarded; /etc, /var, /opt and /srv are made.
Result<SystemBase> host_system_base();

/// All top directories of a root file system tree; its root's files are the sandbox's root's.
/// Errors: kInvalidArgument - no tree, or the host's own root; kUnsupported - a top directory has a
/// name that cannot be a part's.
Result<SystemBase> tree_system_base(int directory, const std::string& path);

}  // namespace cove::local

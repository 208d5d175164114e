/// The /etc and /var that a writable system over the host's begins with: made by Cove, on the
/// volume.
#pragma once

#include <cove/result.hpp>

namespace cove::local {

/// Fills the directory `etc`: what `made_up_etc` (see made_up_etc.hpp) has and binds; besides, what
/// package managers and maintainer scripts read: the host's system accounts (ids below 1000; no
/// others, no passwords), PAM, dpkg, adduser, the keys that sign packages; and the empty
/// directories that installed packages have. Only what the world can read on the host. All modes
/// are set, owners are not.
Result<void> fill_etc(int made_up_etc, int etc);

/// Fills the directory `var`: directories alone, the standard's and those of installed packages.
Result<void> fill_var(int var);

/// The package database's lock files, which the host's overlaid ones cannot be (the world cannot
/// read them).
Result<void> fill_package_locks(int dpkg);

}  // namespace cove::local

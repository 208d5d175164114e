/// Grant: the sandbox has a system of its own that it may change, and is root in it.
#pragma once

#include <cove/policy.hpp>

namespace cove::grants {

/// Opens: commands are uid 0 of the sandbox's own user namespace, with the capabilities CHOWN,
/// DAC_OVERRIDE, FOWNER, FSETID, SETUID, SETGID, SETFCAP, SYS_CHROOT and KILL in it, and may call
/// chroot. The system directories are writable: what is changed lies on the volume and lasts as
/// long as the volume does (not over an archive), so packages can be installed. Of the host the
/// package database (/var/lib/dpkg), the names and ids of its system accounts (below 1000), the
/// configuration of PAM, dpkg and adduser, and the keys that sign packages can be read
/// besides what every sandbox sees. With `root_tree` all of that tree is the sandbox's, also files
/// that only the tree's root may read.
///
/// No longer protects: the sandbox from itself (a command can break its system for good: destroy
/// the sandbox, or archive it, to have a new one); the disk from what packages take (it is not
/// limited); the kernel from code that has the capabilities above in a user namespace, and from its
/// overlay file system. Still protects: whatever the world cannot read on the host stays
/// unreadable, also to root inside; nothing of the host can be written; commands and agent stay
/// apart.
struct WritableSystem {};

}  // namespace cove::grants

/// What the host tells cove-launcher to do: steps as NUL-terminated words in an inherited file.
///
///     stage <fd> <file|dir> <name>   bind what the descriptor is to /tmp/<name>, in a mount
///                                 namespace of this process's own
///     layers <fd>                 a directory with `<name>/{upper,work,merged}` for each layer
///     layer <fd> <guarded|whole> <name>   an overlay over what the descriptor is: see layers.hpp
///     own <first> <path>          make a user namespace whose ids are the host's from <first> on,
///                                 leave it open, and become <first>, who runs <path>
///     subordinate <newuidmap> <newgidmap> <first uid> <first gid> <count>   instead of `own`, as
///                                 an ordinary user: become root of a user namespace of this user's
///                                 id and the <count> ids that the machine gives to this user
///     enter <fd>                  write "0" to the descriptor: a cgroup's list of its threads
///     record <fd> <name> <text>   write <text>"pid":N,"start_time":N} as <name> in a directory
///     exec <path> <n> <word>...   become that program, with n words as its arguments
///
/// In this order, exec last. The launcher is a program of its own, without threads, because a
/// process with threads cannot do this safely in a child of its own.
#pragma once

namespace cove::local {

inline constexpr const char* kStagePath = "/tmp";

/// Where the launcher finds the plan; what goes wrong it writes to standard error.
inline constexpr int kPlanFd = 3;

/// Where the user namespace is left open: above all that the launcher is given or opens by itself,
/// and low, so that a small limit of descriptors suffices.
inline constexpr int kUserNamespaceFd = 63;

/// Its exit code when a step failed.
inline constexpr int kLauncherFailed = 125;

}  // namespace cove::local

#include "agent/privileges.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr std::uint64_t bit(int capability) { return std::uint64_t{1} << capability; }

struct CapabilitySets {
  std::uint64_t effective = 0;
  std::uint64_t permitted = 0;
};

Result<CapabilitySets> read_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return base::system_error(errno, "capget");
  return CapabilitySets{data[0].effective | std::uint64_t{data[1].effective} << 32,
                        data[0].permitted | std::uint64_t{data[1].permitted} << 32};
}

/// Also empties the inheritable set.
Result<void> keep_capabilities(std::uint64_t kept) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  data[0].effective = data[0].permitted = static_cast<std::uint32_t>(kept);
  data[1].effective = data[1].permitted = static_cast<std::uint32_t>(kept >> 32);
  if (::syscall(SYS_capset, &header, data) != 0) return base::system_error(errno, "capset");
  return ok();
}

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  // What a parent ignores would stay ignored in every command.
  for (int number = 1; number <= SIGRTMAX; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

Result<void> settle_descriptors() {
  for (;;) {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const int used = fd >= 0 ? fd : ::open("/", O_PATH | O_CLOEXEC);
    if (used < 0) return base::system_error(errno, "open /dev/null");
    if (used <= 2) continue;
    ::close(used);
    break;
  }
  if (::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    return base::system_error(errno, "close_range");
  }
  return ok();
}

std::uint64_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const std::uint64_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

/// What no command may have, and what every command starts with, is set once, here: children
/// inherit it.
void drop_for_good(std::uint64_t kept) {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if ((kept & bit(capability)) != 0) continue;
    // Without SETPCAP there is nothing that an exec could gain either: see no_new_privs.
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/// Where a user namespace forbids setgroups there are no groups to lose.
Result<void> leave_groups() {
  if (::syscall(SYS_setgroups, 0, nullptr) == 0 || errno == EPERM) return ok();
  return base::system_error(errno, "setgroups");
}

Result<void> take_file_ids(const wire::AgentBoot& boot) {
  COVE_TRY_VOID(leave_groups());
  // These return the id before, never an error: asking again tells whether they worked.
  ::syscall(SYS_setfsgid, boot.gid);
  ::syscall(SYS_setfsuid, boot.uid);
  const bool gid_set = ::syscall(SYS_setfsgid, -1) == static_cast<long>(boot.gid);
  const bool uid_set = ::syscall(SYS_setfsuid, -1) == static_cast<long>(boot.uid);
  if (gid_set && uid_set) return ok();
  return Error(ErrorCode::kPermissionDenied, "the ids " + std::to_string(boot.uid) + ":" +
                                                 std::to_string(boot.gid) +
                                                 " do not exist in this user namespace");
}

/// Commands are root of a system of their own. A program that root runs gets what is in the
/// bounding set and, without new privileges, what its parent has: so the agent has exactly that.
Result<void> become_commands_root(const wire::AgentBoot& boot) {
  COVE_TRY(const auto sets, read_capabilities());
  if (::getuid() != boot.uid || ::getgid() != boot.gid ||
      (sets.permitted & boot.capabilities) != boot.capabilities) {
    return Error(ErrorCode::kPermissionDenied,
                 "uid " + std::to_string(::getuid()) +
                     " may not run commands as root: it is another user, or lacks a capability");
  }
  drop_for_good(boot.capabilities);
  COVE_TRY_VOID(leave_groups());
  return keep_capabilities(boot.capabilities);
}

Result<bool> settle_ids(const wire::AgentBoot& boot) {
  if (boot.capabilities != 0) {
    COVE_TRY_VOID(become_commands_root(boot));
    return false;
  }
  if (::getuid() == boot.uid && ::getgid() == boot.gid) return false;
  COVE_TRY(const auto sets, read_capabilities());
  constexpr std::uint64_t kNeeded = bit(CAP_SETUID) | bit(CAP_SETGID) | bit(CAP_KILL);
  if ((sets.effective & kNeeded) != kNeeded) {
    return Error(ErrorCode::kPermissionDenied,
                 "uid " + std::to_string(::getuid()) + " may not run commands as " +
                     std::to_string(boot.uid) + ": it lacks SETUID, SETGID or KILL");
  }
  drop_for_good(0);
  COVE_TRY_VOID(take_file_ids(boot));
  COVE_TRY_VOID(keep_capabilities(kNeeded));
  return true;
}

}  // namespace

Result<Privileges> settle(const wire::AgentBoot& boot) {
  Privileges privileges;
  reset_signals();
  COVE_TRY_VOID(settle_descriptors());
  privileges.open_files = raise_open_files();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return base::system_error(errno, "set no_new_privs");
  }
  COVE_TRY(privileges.switch_ids, settle_ids(boot));
  // After the ids: changing them resets both.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return base::system_error(errno, "set dumpable");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return base::system_error(errno, "set pdeathsig");
  }
  return privileges;
}

}  // namespace cove::agent

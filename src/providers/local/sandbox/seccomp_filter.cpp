#include "providers/local/sandbox/seccomp_filter.hpp"

#include <array>
#include <cerrno>
#include <initializer_list>
#include <memory>

#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::local {

namespace {

/// System calls by name: libseccomp knows their numbers per architecture; those that this build's
/// libseccomp does not know are given by their number, which is the same on every architecture.
constexpr std::array kRefused = {
    // Keys are not separated by namespaces that unprivileged code could not cross.
    "keyctl",
    "add_key",
    "request_key",
    // Programs in the kernel, and counters that leak over its borders.
    "bpf",
    "perf_event_open",
    "userfaultfd",
    // Submits other calls past this filter.
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    // The view of the file system.
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    // New namespaces, and others' (clone is looked at by its flags).
    "unshare",
    "setns",
    // Other processes' memory and descriptors.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "pidfd_getfd",
    "kcmp",
    "move_pages",
    "migrate_pages",
    // The machine.
    "kexec_load",
    "kexec_file_load",
    "create_module",
    "init_module",
    "finit_module",
    "delete_module",
    "swapon",
    "swapoff",
    "reboot",
    "acct",
    "syslog",
    "nfsservctl",
    "vhangup",
    "quotactl",
    "quotactl_fd",
    "lookup_dcookie",
    "uselib",
    "_sysctl",
    // The clock.
    "settimeofday",
    "stime",
    "clock_settime",
    "clock_settime64",
    "clock_adjtime",
    "clock_adjtime64",
    "adjtimex",
    // Ports and descriptor tables of the processor.
    "iopl",
    "ioperm",
    "modify_ldt",
    "vm86",
    "vm86old",
    // Files by handle, past the directories that lead to them; watches over whole file systems.
    "name_to_handle_at",
    "open_by_handle_at",
    "fanotify_init",
    "fanotify_mark",
};

/// open_tree_attr: as open_tree, since Linux 6.15.
constexpr std::array kRefusedByNumber = {467};

constexpr scmp_datum_t kLow32 = 0xffff'ffff;

/// The kernel reads these arguments as 32 bits: a comparison of all 64 could be got around by
/// setting bits above.
scmp_arg_cmp low32_is(unsigned argument, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, kLow32, value};
}
scmp_arg_cmp has_bit(unsigned argument, scmp_datum_t bit) {
  return {argument, SCMP_CMP_MASKED_EQ, bit, bit};
}
scmp_arg_cmp is_not(unsigned argument, scmp_datum_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {}

  void refuse(const char* name, std::initializer_list<scmp_arg_cmp> where = {},
              int error_number = EPERM) {
    const int call = ::seccomp_syscall_resolve_name(name);
    // Not of this architecture, or newer than libseccomp: such calls have no number to refuse.
    if (call != __NR_SCMP_ERROR) add(call, where, error_number);
  }

  void refuse(int call) { add(call, {}, EPERM); }

  void set(scmp_filter_attr attribute, std::uint32_t value) {
    note(::seccomp_attr_set(context_.get(), attribute, value));
  }

  Result<std::string> program() {
    if (!context_) return Error(ErrorCode::kInternal, "no memory for the seccomp filter");
    const base::UniqueFd fd(::memfd_create("seccomp", MFD_CLOEXEC));
    if (!fd) return base::system_error(errno, "make an anonymous file");
    if (error_ == 0) note(::seccomp_export_bpf(context_.get(), *fd));
    if (error_ != 0) return base::system_error(error_, "build the seccomp filter");
    std::string bytes(static_cast<std::size_t>(::lseek(*fd, 0, SEEK_END)), '\0');
    if (::pread(*fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      return Error(ErrorCode::kInternal, "the seccomp filter cannot be read back");
    }
    return bytes;
  }

 private:
  void add(int call, std::initializer_list<scmp_arg_cmp> where, int error_number) {
    note(::seccomp_rule_add_array(context_.get(),
                                  SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error_number)), call,
                                  static_cast<unsigned>(where.size()), where.begin()));
  }

  void note(int result) {
    if (result < 0 && error_ == 0) error_ = -result;
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
};

void refuse_namespaces(Filter& filter) {
  for (const int flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                         CLONE_NEWPID, CLONE_NEWNET}) {
    filter.refuse("clone", {has_bit(0, static_cast<scmp_datum_t>(flag))});
  }
  // Its flags are behind a pointer, which a filter cannot follow.
  filter.refuse("clone3", {}, ENOSYS);
}

/// `netlink_error`: what programs get that ask for other netlink protocols than route.
void refuse_sockets(Filter& filter, int netlink_error) {
  constexpr int kFamilies = 64;  // the kernel has 46
  for (int family = 0; family < kFamilies; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) {
      continue;
    }
    filter.refuse("socket", {low32_is(0, static_cast<scmp_datum_t>(family))});
    filter.refuse("socketpair", {low32_is(0, static_cast<scmp_datum_t>(family))});
  }
  filter.refuse("socket", {low32_is(0, AF_NETLINK), is_not(2, NETLINK_ROUTE)}, netlink_error);
}

/// Where commands share the agent's uid, the kernel lets them do this to the agent.
void refuse_changes_to_others(Filter& filter) {
  constexpr int kIoprioWhoProcess = 1;  // <linux/ioprio.h> of newer kernels is C alone
  filter.refuse("prlimit64", {is_not(0, 0), is_not(2, 0)});
  for (const char* call :
       {"sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"}) {
    filter.refuse(call, {is_not(0, 0)});
  }
  filter.refuse("setpriority", {is_not(0, PRIO_PROCESS)});
  filter.refuse("setpriority", {is_not(1, 0)});
  filter.refuse("ioprio_set", {is_not(0, kIoprioWhoProcess)});
  filter.refuse("ioprio_set", {is_not(1, 0)});
}

}  // namespace

Result<std::string> seccomp_program(AgentUid agent_uid, SystemRoot root) {
  Filter filter;
  filter.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  filter.set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a search tree: every allowed call walks through it
  for (const char* call : kRefused) filter.refuse(call);
  for (const int call : kRefusedByNumber) filter.refuse(call);
  refuse_namespaces(filter);
  // Programs that make accounts (useradd) go on without the audit log where the kernel has none,
  // and give up where they may not write it.
  refuse_sockets(filter, root == SystemRoot::kOwn ? EPROTONOSUPPORT : EPERM);
  // Characters pushed into a terminal's input are read by whoever reads it next, outside too.
  filter.refuse("ioctl", {low32_is(1, TIOCSTI)});
  filter.refuse("ioctl", {low32_is(1, TIOCLINUX)});
  // Other personalities bring old ABIs and switch address randomisation off.
  filter.refuse("personality", {is_not(0, 0)});
  if (root == SystemRoot::kNone) filter.refuse("chroot");
  if (agent_uid == AgentUid::kShared) refuse_changes_to_others(filter);
  return filter.program();
}

}  // namespace cove::local

#include "agent/exec/spawn.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/system/raw_syscall.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {

using base::as_argument;
using base::raw_syscall;

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kPooledStacks = 64;

}  // namespace

/// What runs outside of the agent's own threads but inside its memory: raw system calls only, no
/// allocation, no errno, no library. SAFETY: everything it reads was finished before the clone;
/// what it writes is in its block, published by the atomic state.
struct KeeperCode {
#define COVE_KEEPER_CODE COVE_UNWATCHED __attribute__((noinline))

  COVE_KEEPER_CODE static int run(void* argument) noexcept {
    auto* block = static_cast<KeeperBlock*>(argument);
    raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
    raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    const long leader = start_leader(block);
    if (leader < 0) return fail(block, SpawnStep::kClone, static_cast<int>(-leader));
    if (block->failed_step != SpawnStep::kNone) {
      reap(leader, block->wait_status);
      return fail(block, block->failed_step, block->error_number);
    }
    __atomic_store_n(&block->leader, static_cast<std::int32_t>(leader), __ATOMIC_RELEASE);
    publish(block, KeeperState::kRunning);
    if (block->announce_start) notify(block);
    keep(block, leader);
    return 0;
  }

 private:
  /// vfork semantics: this process sleeps until the child has executed or ended, so both may use
  /// one stack; the child never returns from here.
  COVE_KEEPER_CODE static long start_leader(KeeperBlock* block) noexcept {
    const long pid = raw_syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD);
    if (pid == 0) become_command(block);
    return pid;
  }

  COVE_KEEPER_CODE static void keep(KeeperBlock* block, long leader) noexcept {
    for (;;) {
      int status = 0;
      rusage used;
      const long pid = raw_syscall(SYS_wait4, -1, as_argument(&status), __WALL, as_argument(&used));
      if (pid == -EINTR) continue;
      if (pid < 0) return;  // ECHILD: nothing is left
      count(block->usage_so_far, used);
      if (pid != leader) continue;
      block->wait_status = status;
      block->usage = block->usage_so_far;
      publish(block, KeeperState::kEnded);
      notify(block);
    }
  }

  COVE_KEEPER_CODE static std::uint64_t microseconds(const timeval& time) noexcept {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
  }

  COVE_KEEPER_CODE static void count(SpawnUsage& sum, const rusage& used) noexcept {
    sum.user_us += microseconds(used.ru_utime);
    sum.system_us += microseconds(used.ru_stime);
    const std::uint64_t peak = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    if (peak > sum.peak_bytes) sum.peak_bytes = peak;
  }

  COVE_KEEPER_CODE static void reap(long pid, int& status) noexcept {
    while (raw_syscall(SYS_wait4, pid, as_argument(&status), __WALL) == -EINTR) {
    }
  }

  COVE_KEEPER_CODE static int fail(KeeperBlock* block, SpawnStep step, int error_number) noexcept {
    block->failed_step = step;
    block->error_number = error_number;
    publish(block, KeeperState::kFailed);
    notify(block);
    return 0;
  }

  COVE_KEEPER_CODE static void publish(KeeperBlock* block, KeeperState state) noexcept {
    __atomic_store_n(&block->state, static_cast<std::int32_t>(state), __ATOMIC_RELEASE);
  }

  COVE_KEEPER_CODE static void notify(KeeperBlock* block) noexcept {
    const char byte = 1;
    while (raw_syscall(SYS_write, block->notify_fd, as_argument(&byte), 1) == -EINTR) {
    }
  }

  /// In the child: every step, then the program.
  [[noreturn]] COVE_KEEPER_CODE static void become_command(KeeperBlock* block) noexcept {
    raw_syscall(SYS_setsid);
    step(block, SpawnStep::kDescriptors, descriptors(block));
    if (block->terminal) step(block, SpawnStep::kTerminal, raw_syscall(SYS_ioctl, 0, TIOCSCTTY, 0));
    step(block, SpawnStep::kCgroup, join_cgroups(block));
    step(block, SpawnStep::kDirectory, raw_syscall(SYS_fchdir, block->directory));
    step(block, SpawnStep::kLimits, limits(block->limits));
    if (block->switch_ids) step(block, SpawnStep::kIdentity, identity(block));
    raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    const unsigned long no_signal = 0;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&no_signal), 0, sizeof no_signal);
    step(block, SpawnStep::kExecute, execute(block));
    for (;;) raw_syscall(SYS_exit_group, 127);
  }

  COVE_KEEPER_CODE static void step(KeeperBlock* block, SpawnStep which, long result) noexcept {
    if (result >= 0) return;
    block->failed_step = which;
    block->error_number = static_cast<int>(-result);
    for (;;) raw_syscall(SYS_exit_group, 127);
  }

  /// The agent keeps 0, 1 and 2 occupied, so none of these is in the way of another.
  COVE_KEEPER_CODE static long descriptors(const KeeperBlock* block) noexcept {
    for (int i = 0; i < 3; ++i) {
      const long result = raw_syscall(SYS_dup3, block->stdio[i], i, 0);
      if (result < 0) return result;
    }
    return raw_syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  }

  COVE_KEEPER_CODE static long join_cgroups(const KeeperBlock* block) noexcept {
    const char self = '0';
    for (std::size_t i = 0; i < block->cgroup_count; ++i) {
      const long result = raw_syscall(SYS_write, block->cgroups[i], as_argument(&self), 1);
      if (result < 0) return result;
    }
    return 0;
  }

  COVE_KEEPER_CODE static long limit(int resource, std::uint64_t soft,
                                     std::uint64_t hard) noexcept {
    const std::uint64_t value[2] = {soft, hard};
    return raw_syscall(SYS_prlimit64, 0, resource, as_argument(&value[0]), 0);
  }

  COVE_KEEPER_CODE static long limits(const SpawnLimits& limits) noexcept {
    long result = 0;
    if (limits.address_space > 0) {
      result = limit(RLIMIT_AS, limits.address_space, limits.address_space);
    }
    if (result >= 0 && limits.processes > 0) {
      result = limit(RLIMIT_NPROC, limits.processes, limits.processes);
    }
    if (result >= 0 && limits.open_files > 0) result = lower_open_files(limits.open_files);
    if (result >= 0 && limits.cpu_seconds > 0) {
      // SIGXCPU at the soft limit can be caught; SIGKILL at the hard one cannot.
      result = limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1ULL);
    }
    if (result >= 0 && limits.niceness > 0) {
      result = raw_syscall(SYS_setpriority, PRIO_PROCESS, 0, limits.niceness);
    }
    if (limits.raise_oom_score) raise_oom_score();
    return result;
  }

  COVE_KEEPER_CODE static long lower_open_files(std::uint64_t soft) noexcept {
    std::uint64_t value[2] = {0, 0};
    const long result = raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, as_argument(&value[0]));
    return result < 0 ? result : limit(RLIMIT_NOFILE, soft, value[1]);
  }

  /// So that the kernel takes a command before the agent; a hint, so its failure is none.
  COVE_KEEPER_CODE static void raise_oom_score() noexcept {
    const char path[] = "/proc/self/oom_score_adj";
    const char score[] = "500";
    const long fd = raw_syscall(SYS_openat, AT_FDCWD, as_argument(&path[0]), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    raw_syscall(SYS_write, fd, as_argument(&score[0]), 3);
    raw_syscall(SYS_close, fd);
  }

  /// Leaving uid 0 with all three ids takes every capability away; the bounding set is the agent's
  /// own, emptied at its start. The library's own wrappers would change the agent's threads too.
  COVE_KEEPER_CODE static long identity(const KeeperBlock* block) noexcept {
    const std::uint32_t group = block->gid;
    long result = raw_syscall(SYS_setgroups, 0, 0);
    // Where a user namespace forbids setgroups there are no groups to lose.
    if (result == -EPERM) result = 0;
    if (result >= 0) result = raw_syscall(SYS_setresgid, group, group, group);
    if (result >= 0) result = raw_syscall(SYS_setresuid, block->uid, block->uid, block->uid);
    // The memory is still the agent's: nobody of that uid may look into it before the exec.
    raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
    return result;
  }

  /// As a shell looks a program up: the first that runs; what was forbidden is told over what was
  /// not there.
  COVE_KEEPER_CODE static long execute(KeeperBlock* block) noexcept {
    long worst = -ENOENT;
    for (std::size_t i = 0; block->programs[i] != nullptr; ++i) {
      const long result = raw_syscall(SYS_execve, as_argument(block->programs[i]),
                                      as_argument(block->argv), as_argument(block->environment));
      if (result == -ENOENT || result == -ENOTDIR) continue;
      worst = result;
      if (result != -EACCES) return result;
    }
    return worst;
  }

#undef COVE_KEEPER_CODE
};

namespace {

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> list;
  list.reserve(strings.size() + 1);
  for (const auto& text : strings) list.push_back(text.c_str());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Keeper::Keeper(SpawnPlan plan, int notify_fd)
    : plan_(std::move(plan)),
      programs_(pointers(plan_.programs)),
      argv_(pointers(plan_.argv)),
      environment_(pointers(plan_.environment)) {
  block_.programs = programs_.data();
  block_.argv = argv_.data();
  block_.environment = environment_.data();
  for (std::size_t i = 0; i < plan_.stdio.size(); ++i) block_.stdio[i] = plan_.stdio[i];
  block_.directory = plan_.directory;
  block_.cgroups = plan_.cgroups.data();
  block_.cgroup_count = plan_.cgroups.size();
  block_.limits = plan_.limits;
  block_.switch_ids = plan_.switch_ids;
  block_.uid = plan_.uid;
  block_.gid = plan_.gid;
  block_.announce_start = plan_.announce_start;
  block_.terminal = plan_.terminal;
  block_.notify_fd = notify_fd;
}

KeeperState Keeper::state() const noexcept {
  return static_cast<KeeperState>(__atomic_load_n(&block_.state, __ATOMIC_ACQUIRE));
}

pid_t Keeper::leader() const noexcept { return __atomic_load_n(&block_.leader, __ATOMIC_ACQUIRE); }

Keeper::~Keeper() {
  if (stack_ != nullptr) pool_->give(stack_);
}

StackPool::~StackPool() {
  for (std::byte* stack : free_) ::munmap(stack, kStackBytes);
}

std::byte* StackPool::take() {
  if (!free_.empty()) {
    std::byte* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  return stack == MAP_FAILED ? nullptr : static_cast<std::byte*>(stack);
}

void StackPool::give(std::byte* stack) noexcept {
  if (free_.size() < kPooledStacks) {
    free_.push_back(stack);
  } else {
    ::munmap(stack, kStackBytes);
  }
}

Result<std::unique_ptr<Keeper>> Spawner::start(SpawnPlan plan) {
  std::unique_ptr<Keeper> keeper(new Keeper(std::move(plan), notify_fd_));
  keeper->pool_ = &stacks_;
  keeper->stack_ = stacks_.take();
  if (keeper->stack_ == nullptr) return base::system_error(ENOMEM, "start a command");
  // CLONE_FILES: the keeper holds no descriptor of its own, so closing one here closes it.
  // SAFETY: the stack is the keeper's until it is reaped, which is when ~Keeper may run.
  const int pid = ::cove_unwatched_clone(&KeeperCode::run, keeper->stack_ + kStackBytes,
                                         CLONE_VM | CLONE_FILES | SIGCHLD, &keeper->block_);
  if (pid >= 0) {
    keeper->pid_ = pid;
    return keeper;
  }
  const ErrorCode code = ErrorCode::kQuotaExceeded;
  return Error(code, "no process can be started: " + base::system_error(errno, "clone").message());
}

}  // namespace cove::agent

#include "providers/local/instance/quiet_start.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/raw_syscall.hpp"
#include "base/system/system_error.hpp"

namespace cove::local {

using base::as_argument;
using base::raw_syscall;
using base::system_error;
using base::UniqueFd;

namespace {

constexpr std::size_t kStackSize = 64 * 1024;
// With the number after the last, below 64: the least limit of descriptors that a host may have.
constexpr std::size_t kMaxDescriptors = 48;
constexpr const char* kPassing = "pass a descriptor";

/// What host, go-between and program-to-be share. The host's thread is suspended while the other
/// two write here.
struct Start {
  int program = -1;
  char* const* arguments = nullptr;
  std::span<const int> descriptors;
  char* program_stack_top = nullptr;

  int pidfd = -1;
  const char* failed_step = nullptr;
  int error_number = 0;
};

COVE_UNWATCHED int give_up(Start& start, const char* step, long result) {
  start.failed_step = step;
  start.error_number = static_cast<int>(-result);
  return 127;
}

/// Closes every descriptor that is not in `kept`. In a table of this process's own, as what
/// follows.
COVE_UNWATCHED long close_all_but(const int* kept, int count) {
  for (long from = 0;;) {
    long next = -1;
    for (int i = 0; i < count; ++i) {
      if (kept[i] >= from && (next < 0 || kept[i] < next)) next = kept[i];
    }
    if (next == from) {
      ++from;
      continue;
    }
    // SAFETY: closes in this process's own table; the host's stays as it is.
    const long result = raw_syscall(SYS_close_range, from, next < 0 ? ~0U : next - 1, 0);
    if (result < 0 || next < 0) return result;
    from = next + 1;
  }
}

/// Puts another number in the place of `descriptor`.
COVE_UNWATCHED void rename(int* sources, int count, int descriptor, int by) {
  for (int i = 0; i < count; ++i) {
    if (sources[i] == descriptor) sources[i] = by;
  }
}

/// Gives each of `sources` its place as its number, by one spare descriptor: a host may have few.
COVE_UNWATCHED long move_into_place(int* sources, int count) {
  for (int i = 0; i < count; ++i) {
    if (sources[i] == i) {
      const long result = raw_syscall(SYS_fcntl, i, F_SETFD, 0);
      if (result < 0) return result;
      continue;
    }
    // What a later one stands on must not be lost. Past all places, so that each moves but once.
    for (int later = i + 1; later < count; ++later) {
      if (sources[later] != i) continue;
      const long spare = raw_syscall(SYS_fcntl, i, F_DUPFD_CLOEXEC, count);
      if (spare < 0) return spare;
      rename(sources + i, count - i, i, static_cast<int>(spare));
    }
    const long result = raw_syscall(SYS_dup3, sources[i], i, 0);
    if (result < 0) return result;
  }
  return 0;
}

/// Becomes the program. Own descriptor table, the host's memory: raw system calls only.
COVE_UNWATCHED int become_program(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  const int count = static_cast<int>(start.descriptors.size());
  int sources[kMaxDescriptors + 1];
  for (int i = 0; i < count; ++i) sources[i] = start.descriptors[static_cast<std::size_t>(i)];
  sources[count] = start.program;
  long result = close_all_but(sources, count + 1);
  if (result < 0) return give_up(start, "close the host's descriptors", result);
  result = move_into_place(sources, count + 1);
  if (result < 0) return give_up(start, kPassing, result);
  // SAFETY: as in close_all_but.
  result = raw_syscall(SYS_close_range, count + 1, ~0U, 0);
  if (result < 0) return give_up(start, "close what was moved", result);
  // The program closes its own file with its start.
  raw_syscall(SYS_fcntl, count, F_SETFD, FD_CLOEXEC);
  static char* const no_environment[] = {nullptr};
  // SAFETY: all pointers live in the suspended host thread.
  result = raw_syscall(SYS_execveat, count, as_argument(""), as_argument(start.arguments),
                       as_argument(no_environment), AT_EMPTY_PATH);
  return give_up(start, "run the launcher", result);
}

/// The go-between: shares the host's memory and descriptors, has no exit signal, never calls exec.
COVE_UNWATCHED int start_program(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  // SAFETY: vfork semantics: this process is suspended until the child has called exec or ended,
  // and the child runs on a stack of its own.
  const int child =
      ::cove_unwatched_clone(become_program, start.program_stack_top,
                             CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, &start.pidfd);
  // The thread's errno is the suspended host thread's: nobody else uses it meanwhile.
  if (child < 0) return give_up(start, "make a process", -errno);
  if (start.failed_step != nullptr) raw_syscall(SYS_wait4, child, 0, 0, 0);
  return 0;
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// A number over the limit of open descriptors is EINVAL to fcntl and EBADF to dup3.
Error failure_of(const Start& start) {
  const bool passing = start.failed_step == kPassing;
  const bool over = start.error_number == EINVAL || start.error_number == EBADF;
  return system_error(passing && over ? EMFILE : start.error_number, start.failed_step);
}

std::unique_ptr<char[]> make_stack() { return std::unique_ptr<char[]>(new char[kStackSize]); }

char* top_of(const std::unique_ptr<char[]>& stack) {
  // Both architectures want 16 bytes of alignment; the size is a multiple of it and new gives it.
  return stack.get() + kStackSize;
}

}  // namespace

Result<UniqueFd> start_quietly(int program, const std::vector<std::string>& arguments,
                               std::span<const int> descriptors) {
  if (descriptors.size() > kMaxDescriptors) {
    return Error(ErrorCode::kInternal, "too many descriptors for a program");
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): execve changes none of them
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  const auto go_between_stack = make_stack();
  const auto program_stack = make_stack();
  Start start{.program = program,
              .arguments = pointers.data(),
              .descriptors = descriptors,
              .program_stack_top = top_of(program_stack)};
  pid_t go_between = -1;
  {
    // A handler of the host's must not run in a process that shares its memory.
    const AllSignalsBlocked blocked;
    // SAFETY: as in start_program. CLONE_FILES: the pidfd comes to be in the host's table. No exit
    // signal, no exec: invisible to the host's own wait calls.
    go_between = ::cove_unwatched_clone(start_program, top_of(go_between_stack),
                                        CLONE_VM | CLONE_VFORK | CLONE_FILES, &start);
  }
  if (go_between < 0) return system_error(errno, "make a process");
  while (::waitpid(go_between, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  UniqueFd pidfd(start.pidfd);
  if (start.failed_step != nullptr) return failure_of(start);
  return pidfd;
}

void reap_adopted(int pidfd) noexcept {
  siginfo_t info{};
  ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | __WALL);
}

}  // namespace cove::local

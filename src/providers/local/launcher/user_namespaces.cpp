#include "providers/local/launcher/user_namespaces.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/local/launcher/failing.hpp"

namespace cove::local {

namespace {

constexpr unsigned kRangeCount = 65536;

void write_map(pid_t child, const char* name, std::uint32_t first) {
  char path[64];
  char line[64];
  write_text(path, sizeof path, "/proc/%d/%s", child, name);
  const int length = std::snprintf(line, sizeof line, "0 %u %u\n", first, kRangeCount);
  const int map = ::open(path, O_WRONLY | O_CLOEXEC);
  require(map >= 0 && ::write(map, line, static_cast<std::size_t>(length)) == length,
          "write the ids of the user namespace");
  ::close(map);
}

}  // namespace

pid_t hold_user_namespace() {
  static char stack[16 * 1024] __attribute__((aligned(16)));
  static pid_t launcher = ::getpid();
  // SAFETY: the child shares this process's memory but runs on its own stack, makes system calls
  // only, and is killed and reaped by the caller; where this process is killed before, it ends too.
  return ::clone(
      [](void*) -> int {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        while (::getppid() == launcher) ::pause();
        return 0;
      },
      stack + sizeof stack, CLONE_VM | CLONE_NEWUSER | SIGCHLD, nullptr);
}

int open_user_namespace(pid_t child) {
  char path[64];
  write_text(path, sizeof path, "/proc/%d/ns/user", child);
  const int opened = ::open(path, O_RDONLY | O_CLOEXEC);
  require(opened >= 0, "open the user namespace");
  return opened;
}

void write_range_maps(pid_t child, std::uint32_t first) {
  write_map(child, "uid_map", first);
  write_map(child, "gid_map", first);
}

void write_subordinate_map(const SubordinateMap& map, pid_t child, unsigned own) {
  char pid[16];
  char self[16];
  write_text(pid, sizeof pid, "%d", child);
  write_text(self, sizeof self, "%u", own);
  const char* const words[] = {map.program, pid,       "0",       self,   "1",
                               "1",         map.first, map.count, nullptr};
  const pid_t mapper = ::fork();
  require(mapper >= 0, "start a program that maps ids");
  if (mapper == 0) {
    static char* environment[] = {nullptr};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): execve changes none of them
    ::execve(map.program, const_cast<char**>(words), environment);
    fail(map.program);
  }
  int status = 0;
  require(::waitpid(mapper, &status, 0) == mapper, "wait for the map of ids");
  errno = EPERM;
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "map the subordinate ids of the user namespace");
}

}  // namespace cove::local

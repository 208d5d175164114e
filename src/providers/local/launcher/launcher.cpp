// cove-launcher: turns itself into bubblewrap, prepared as plan.hpp says.
//
// A static program of one thread. It is started with nothing but the descriptors that the plan and
// bubblewrap need, and leaves to bubblewrap exactly those that bubblewrap and the agent need.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/local/launcher/failing.hpp"
#include "providers/local/launcher/layers.hpp"
#include "providers/local/launcher/mount_calls.hpp"
#include "providers/local/launcher/plan.hpp"
#include "providers/local/launcher/user_namespaces.hpp"

namespace cove::local {
namespace {

constexpr std::size_t kMaxPlan = 256 * 1024;
constexpr int kMaxStages = 16;
constexpr int kMaxWords = 1024;

/// The words of the plan, one after the other.
class Plan {
 public:
  Plan() {
    ssize_t got = 0;
    while ((got = ::read(kPlanFd, text_ + size_, kMaxPlan - size_)) > 0) {
      size_ += static_cast<std::size_t>(got);
    }
    require(got == 0 && size_ > 0 && size_ < kMaxPlan && text_[size_ - 1] == '\0', "read the plan");
    ::close(kPlanFd);
  }

  const char* word() {
    errno = EINVAL;
    require(at_ < size_, "read the plan");
    const char* found = text_ + at_;
    at_ += std::strlen(found) + 1;
    return found;
  }

  std::uint32_t number() {
    const char* text = word();
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    errno = EINVAL;
    require(*text != '\0' && *end == '\0' && value <= UINT32_MAX, "read a number of the plan");
    return static_cast<std::uint32_t>(value);
  }

  int descriptor() { return static_cast<int>(number()); }

 private:
  // Zeroed pages that are never touched cost nothing.
  static char text_[kMaxPlan];
  std::size_t size_ = 0;
  std::size_t at_ = 0;
};
char Plan::text_[kMaxPlan];

struct NeutralLimit {
  decltype(RLIMIT_CPU) resource;
  rlim_t soft;
  rlim_t hard;
};
constexpr NeutralLimit kNeutralLimits[] = {
    {RLIMIT_CPU, RLIM_INFINITY, RLIM_INFINITY},
    {RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY},
    {RLIMIT_DATA, RLIM_INFINITY, RLIM_INFINITY},
    {RLIMIT_STACK, 8UL << 20, RLIM_INFINITY},
    {RLIMIT_CORE, 0, RLIM_INFINITY},
    {RLIMIT_RSS, RLIM_INFINITY, RLIM_INFINITY},
    {RLIMIT_AS, RLIM_INFINITY, RLIM_INFINITY},
    {RLIMIT_NOFILE, 1024, 1UL << 20},
    {RLIMIT_RTTIME, RLIM_INFINITY, RLIM_INFINITY},
};

struct Stage {
  int tree = -1;
  bool is_file = false;
  const char* name = nullptr;
};

class Launcher {
 public:
  [[noreturn]] void run() {
    calm_down();
    for (;;) {
      const char* step = plan_.word();
      if (std::strcmp(step, "stage") == 0) {
        stage();
      } else if (std::strcmp(step, "layers") == 0) {
        layers_.set_parts(plan_.descriptor());
      } else if (std::strcmp(step, "layer") == 0) {
        layer();
      } else if (std::strcmp(step, "own") == 0) {
        own();
      } else if (std::strcmp(step, "subordinate") == 0) {
        subordinate();
      } else if (std::strcmp(step, "enter") == 0) {
        enter();
      } else if (std::strcmp(step, "record") == 0) {
        record();
      } else if (std::strcmp(step, "exec") == 0) {
        execute();
      } else {
        errno = EINVAL;
        fail("understand the plan");
      }
    }
  }

 private:
  /// Leaves the host's terminal, signals and mask behind: Ctrl-C in the host's terminal is not for
  /// the sandbox.
  void calm_down() {
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setsid();
    ::umask(022);
    be_nobodys_child();
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    require(::chdir("/") == 0, "enter '/'");
  }

  /// The sandbox outlives who starts it, so the limits, the niceness and the processors of that one
  /// are not for it. What may not be raised again (without CAP_SYS_RESOURCE, CAP_SYS_NICE) stays.
  static void be_nobodys_child() {
    for (const NeutralLimit& neutral : kNeutralLimits) {
      rlimit limit{neutral.soft, neutral.hard};
      if (::setrlimit(neutral.resource, &limit) == 0) continue;
      if (::getrlimit(neutral.resource, &limit) != 0) continue;
      limit.rlim_cur = neutral.soft < limit.rlim_max ? neutral.soft : limit.rlim_max;
      ::setrlimit(neutral.resource, &limit);
    }
    const sched_param no_priority{};
    // SAFETY: the parameters live through the call. musl's own function refuses.
    ::syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &no_priority);
    ::setpriority(PRIO_PROCESS, 0, 0);
    cpu_set_t every;
    std::memset(&every, 0xff, sizeof every);
    ::sched_setaffinity(0, sizeof every, &every);
  }

  /// Copies the mount behind a descriptor while this is still the mount namespace it belongs to.
  void stage() {
    const int source = plan_.descriptor();
    const bool is_file = std::strcmp(plan_.word(), "file") == 0;
    errno = E2BIG;
    require(stage_count_ < kMaxStages, "stage so much");
    // SAFETY: the empty path means the descriptor itself; the result is a new descriptor.
    const long tree = ::syscall(SYS_open_tree, source, "",
                                AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    require(tree >= 0, "copy the mount of a volume");
    ::close(source);
    stages_[stage_count_++] = {static_cast<int>(tree), is_file, plan_.word()};
  }

  void layer() {
    const int lower = plan_.descriptor();
    const bool is_guarded = std::strcmp(plan_.word(), "guarded") == 0;
    layers_.add(lower, is_guarded, plan_.word());
  }

  void own() {
    const std::uint32_t first = plan_.number();
    const char* program = plan_.word();
    // The stage covers what may lie below its place: the program is opened before.
    program_ = ::open(program, O_PATH | O_CLOEXEC);
    require(program_ >= 0, program);
    layers_.copy_lowers();
    mount_stages();
    make_user_namespace(first);
    layers_.mount_on_stage(kUserNamespaceFd);
    first_ = first;
  }

  /// What `own` is where the host is an ordinary user: the uid map is written by programs that may,
  /// and this process itself enters the namespace, as its root.
  void subordinate() {
    const char* const map_uids = plan_.word();
    const char* const map_gids = plan_.word();
    const char* const first_uid = plan_.word();
    const char* const first_gid = plan_.word();
    const char* const count = plan_.word();
    const pid_t child = hold_user_namespace();
    require(child > 0, "make a user namespace");
    write_subordinate_map({map_uids, first_uid, count}, child, ::geteuid());
    write_subordinate_map({map_gids, first_gid, count}, child, ::getegid());
    const int opened = open_user_namespace(child);
    require(::setns(opened, CLONE_NEWUSER) == 0, "enter the user namespace");
    ::close(opened);
    ::kill(child, SIGKILL);
    require(::waitpid(child, nullptr, 0) == child, "end the namespace's first process");
    require(::setgroups(0, nullptr) == 0, "leave the groups of the host's user");
    require(::unshare(CLONE_NEWNS) == 0, "make a mount namespace");
    require(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0,
            "make the mounts private");
    layers_.mount_in_place();
  }

  void mount_stages() {
    require(::unshare(CLONE_NEWNS) == 0, "make a mount namespace");
    require(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0,
            "make the mounts private");
    require(::mount("cove", kStagePath, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") == 0,
            "mount the stage");
    const int root = ::open(kStagePath, O_PATH | O_DIRECTORY | O_CLOEXEC);
    require(root >= 0, "open the stage");
    for (int i = 0; i < stage_count_; ++i) {
      const Stage& entry = stages_[i];
      if (entry.is_file) {
        const int file = ::openat(root, entry.name, O_CREAT | O_EXCL | O_CLOEXEC, 0444);
        require(file >= 0, "make a file on the stage");
        ::close(file);
      } else {
        require(::mkdirat(root, entry.name, 0755) == 0, "make a directory on the stage");
      }
      // SAFETY: both paths live through the call; no memory is written.
      require(
          ::syscall(SYS_move_mount, entry.tree, "", root, entry.name, MOVE_MOUNT_F_EMPTY_PATH) == 0,
          "bind a volume to the stage");
      ::close(entry.tree);
    }
    ::close(root);
  }

  /// A user namespace belongs to the effective uid that makes it, and its owner may enter it. So
  /// the range's first uid makes it, in a child that only holds it open until its maps are written
  /// (by root, which alone may write maps of many ids).
  void make_user_namespace(std::uint32_t first) {
    require(::setresgid(static_cast<gid_t>(-1), first, static_cast<gid_t>(-1)) == 0 &&
                ::setresuid(static_cast<uid_t>(-1), first, static_cast<uid_t>(-1)) == 0,
            "become the owner of the uid range");
    const pid_t child = hold_user_namespace();
    const int made = errno;
    require(::setresuid(static_cast<uid_t>(-1), 0, static_cast<uid_t>(-1)) == 0 &&
                ::setresgid(static_cast<gid_t>(-1), 0, static_cast<gid_t>(-1)) == 0,
            "become root again");
    errno = made;
    require(child > 0, "make a user namespace");
    write_range_maps(child, first);
    const int opened = open_user_namespace(child);
    require(::dup2(opened, kUserNamespaceFd) == kUserNamespaceFd, "keep the user namespace");
    ::close(opened);
    ::kill(child, SIGKILL);
    holder_ = child;
  }

  /// Ends while the steps after its own go on.
  void reap_holder() {
    if (holder_ <= 0) return;
    require(::waitpid(holder_, nullptr, 0) == holder_, "end the namespace's first process");
  }

  /// What is made from here on is born in the group.
  void enter() {
    const int members = plan_.descriptor();
    require(::write(members, "0", 1) == 1, "enter the cgroup of the instance");
    ::close(members);
  }

  /// Written whole under another name first, so that a reader sees all of it or nothing.
  void record() {
    const int directory = plan_.descriptor();
    const char* name = plan_.word();
    const char* text = plan_.word();
    char tail[96];
    const int length = std::snprintf(tail, sizeof tail, "\"pid\":%d,\"start_time\":%llu}",
                                     static_cast<int>(::getpid()), start_time());
    const int file =
        ::openat(directory, "record.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::size_t size = std::strlen(text);
    require(file >= 0 && ::write(file, text, size) == static_cast<ssize_t>(size) &&
                ::write(file, tail, static_cast<std::size_t>(length)) == length &&
                ::renameat(directory, "record.new", directory, name) == 0,
            "write the record of the instance");
    ::close(file);
    ::close(directory);
  }

  /// Field 22 of /proc/self/stat; the name in parentheses may hold spaces.
  static unsigned long long start_time() {
    char text[1024];
    const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file >= 0 ? ::read(file, text, sizeof text - 1) : -1;
    require(got > 0, "read '/proc/self/stat'");
    ::close(file);
    text[got] = '\0';
    const char* at = std::strrchr(text, ')');
    for (int field = 2; at != nullptr && field < 22; ++field) {
      at = std::strchr(at + 1, ' ');
    }
    errno = EINVAL;
    require(at != nullptr, "understand '/proc/self/stat'");
    return std::strtoull(at, nullptr, 10);
  }

  [[noreturn]] void execute() {
    static char* words[kMaxWords];
    static char* environment[] = {nullptr};
    const char* program = plan_.word();
    const std::uint32_t count = plan_.number();
    errno = E2BIG;
    require(count > 0 && count < kMaxWords, "run so long a command");
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): execve changes none of them
    for (std::uint32_t i = 0; i < count; ++i) words[i] = const_cast<char*>(plan_.word());
    reap_holder();
    if (first_ != 0) {
      require(::setgroups(0, nullptr) == 0 && ::setresgid(first_, first_, first_) == 0 &&
                  ::setresuid(first_, first_, first_) == 0,
              "become the owner of the uid range");
    }
    if (program_ >= 0) {
      // SAFETY: all pointers live on; comes back only where it fails. A script cannot be run by a
      // descriptor that closes at exec: it is tried by its path next.
      ::syscall(SYS_execveat, program_, "", words, environment, AT_EMPTY_PATH);
    }
    ::execve(program, words, environment);
    fail(program);
  }

  Plan plan_;
  Layers layers_;
  Stage stages_[kMaxStages];
  int stage_count_ = 0;
  int program_ = -1;
  std::uint32_t first_ = 0;
  pid_t holder_ = -1;  ///< the process that holds the user namespace open until it is opened here
};

}  // namespace
}  // namespace cove::local

int main() {
  cove::local::Launcher launcher;
  launcher.run();
}

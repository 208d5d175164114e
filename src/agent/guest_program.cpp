#include "agent/guest_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/exec/command_table.hpp"
#include "agent/loop/event_loop.hpp"
#include "agent/privileges.hpp"
#include "agent/proxy/proxy_server.hpp"
#include "agent/server/file_service.hpp"
#include "agent/server/search_service.hpp"
#include "agent/server/server.hpp"
#include "base/system/system_error.hpp"
#include "wire/boot.hpp"

namespace cove::agent {
namespace {

Result<wire::AgentBoot> read_boot(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    // By offset: whoever filled the descriptor left its position at the end.
    const ssize_t bytes =
        ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return base::system_error(errno, "read the boot document");
    if (bytes == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (text.size() > 2 * 1024 * 1024) break;
  }
  ::close(fd);
  return wire::parse_agent_boot(text);
}

int open_oom_counter(int memory_cgroup) {
  if (memory_cgroup < 0) return -1;
  for (const char* name : {"memory.events", "memory.oom_control"}) {
    const int fd = ::openat(memory_cgroup, name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) return fd;
  }
  return -1;
}

CommandEnvironment make_environment(EventLoop& loop, const Files& files,
                                    const wire::AgentBoot& boot, const Privileges& privileges) {
  CommandEnvironment environment;
  environment.loop = &loop;
  environment.files = &files;
  environment.variables = boot.environment;
  environment.cgroups = boot.command_cgroup_fds;
  environment.group_parents = usable_parents({boot.memory_cgroup_fd, boot.processes_cgroup_fd});
  environment.oom_counter_fd = open_oom_counter(boot.memory_cgroup_fd);
  environment.limits = {.address_space = boot.address_space_bytes,
                        .processes = boot.processes,
                        .open_files = privileges.open_files,
                        .raise_oom_score = boot.best_effort_limits};
  environment.switch_ids = privileges.switch_ids;
  environment.uid = boot.uid;
  environment.gid = boot.gid;
  return environment;
}

Result<base::UniqueFd> open_null() {
  base::UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (fd) return fd;
  // A root file system without /dev: the end of a pipe that nobody writes gives end of file too.
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error(errno, "pipe");
  ::close(ends[1]);
  return base::UniqueFd(ends[0]);
}

/// HOME as commands have it. One inside the workspace needs no rule of its own.
Home home_of(const wire::AgentBoot& boot) {
  const auto found = boot.environment.find("HOME");
  if (found == boot.environment.end() || (found->second + "/").starts_with(boot.workspace + "/")) {
    return {};
  }
  base::UniqueFd fd(::open(found->second.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return {std::move(fd), found->second};
}

/// Asked to end, the agent ends its commands first. As PID 1 of a sandbox it listens only to who is
/// outside, whose processes have no number in there.
class TerminationWatcher final : public Watcher {
 public:
  TerminationWatcher(EventLoop& loop, CommandTable& commands) : loop_(loop), commands_(commands) {}
  ~TerminationWatcher() override {
    if (signals_) loop_.remove(*signals_, this);
  }

  bool start() {
    sigset_t terminate;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    signals_.reset(::signalfd(-1, &terminate, SFD_CLOEXEC | SFD_NONBLOCK));
    return signals_ && loop_.add(*signals_, EPOLLIN, this);
  }

  void on_ready(std::uint32_t) override {
    signalfd_siginfo info{};
    bool asked = false;
    while (::read(*signals_, &info, sizeof info) > 0) {
      asked = asked || ::getpid() != 1 || info.ssi_pid == 0;
    }
    if (asked) commands_.stop_all([this] { loop_.stop(); });
  }

 private:
  EventLoop& loop_;
  CommandTable& commands_;
  base::UniqueFd signals_;
};

/// Opened to read: it stays good for sync and fchmod whatever commands do to the directory's mode.
/// One that they closed before the last stop is opened to its owner again: nothing runs yet, so
/// nobody is in the way of the path.
Result<base::UniqueFd> open_root(const std::string& path) {
  const auto open = [&path] {
    return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  };
  base::UniqueFd root = open();
  struct stat facts{};
  if (!root && errno == EACCES && ::lstat(path.c_str(), &facts) == 0 &&
      ::chmod(path.c_str(), (facts.st_mode & 07777U) | S_IRWXU) == 0) {
    root = open();
  }
  if (!root) return base::system_error(errno, "open '" + path + "'");
  return root;
}

/// HOME as a root of its own; null where there is none.
std::unique_ptr<const Files> home_files(const wire::AgentBoot& boot) {
  Result<base::UniqueFd> root = open_root(boot.home);
  if (!root) return nullptr;
  return std::make_unique<const Files>(*std::move(root), boot.home);
}

/// The proxy of network `proxy`, and its variables for commands; null elsewhere.
Result<std::unique_ptr<ProxyServer>> open_proxy(EventLoop& loop, const wire::AgentBoot& boot,
                                                CommandEnvironment& environment) {
  if (!boot.proxy) return std::unique_ptr<ProxyServer>();
  COVE_TRY(auto proxy, ProxyServer::open(loop, static_cast<std::uint16_t>(boot.proxy_port)));
  for (auto& [name, value] : proxy->variables(boot.proxy_exceptions)) {
    environment.variables.try_emplace(name, value);
  }
  return proxy;
}

}  // namespace

Result<void> run_guest(int boot_fd) {
  COVE_TRY(const auto boot, read_boot(boot_fd));
  COVE_TRY(const auto privileges, settle(boot));
  COVE_TRY(base::UniqueFd workspace, open_root(boot.workspace));
  const Files files(std::move(workspace), boot.workspace, home_of(boot));
  COVE_TRY(const auto loop, EventLoop::open());
  CommandEnvironment environment = make_environment(*loop, files, boot, privileges);
  COVE_TRY(const auto proxy, open_proxy(*loop, boot, environment));
  SpillStore spill(boot.home);
  environment.spill = &spill;
  COVE_TRY(const auto null, open_null());
  environment.null_fd = *null;
  COVE_TRY(const auto commands, CommandTable::open(environment));
  const std::unique_ptr<const Files> home = home_files(boot);
  FileService file_service(*loop, files, home.get());
  SearchService search_service(*loop, files);
  Server server({*loop, *commands, file_service, search_service, proxy.get()}, boot);
  TerminationWatcher termination(*loop, *commands);
  if (!termination.start()) return base::system_error(errno, "watch for SIGTERM");
  COVE_TRY_VOID(server.start());
  loop->run();
  return ok();
}

}  // namespace cove::agent

#include "agent/exec/command_group.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/exec/environment.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

/// The agent touches files with the sandbox's ids; groups are its own.
class OwnIds {
 public:
  OwnIds()
      : gid_(static_cast<gid_t>(::setfsgid(::getgid()))),
        uid_(static_cast<uid_t>(::setfsuid(::getuid()))) {}
  ~OwnIds() {
    ::setfsgid(gid_);
    ::setfsuid(uid_);
  }
  OwnIds(const OwnIds&) = delete;
  OwnIds& operator=(const OwnIds&) = delete;

 private:
  gid_t gid_;
  uid_t uid_;
};

std::string read_text(int directory, const char* name) {
  const base::UniqueFd fd(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer;
  while (fd) {
    const ssize_t bytes = ::read(*fd, buffer.data(), buffer.size());
    if (bytes <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  return text;
}

std::uint64_t read_number(int directory, const char* name) {
  const std::string text = read_text(directory, name);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<void> write_text(int directory, const char* name, const std::string& text) {
  const base::UniqueFd fd(::openat(directory, name, O_WRONLY | O_CLOEXEC));
  if (fd && ::write(*fd, text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return ok();
  }
  return base::system_error(errno, std::string("set '") + name + "' of a command's group");
}

}  // namespace

GroupParents usable_parents(const GroupParents& parents) {
  if (parents.memory < 0 || parents.processes < 0) return {};
  // Without the hierarchy a group below would be free of the sandbox's own limit. Kernels that do
  // not have the file know no other way.
  const bool flat = ::faccessat(parents.memory, "memory.use_hierarchy", F_OK, 0) == 0 &&
                    read_number(parents.memory, "memory.use_hierarchy") != 1;
  return flat ? GroupParents() : parents;
}

Result<void> CommandGroup::add(Part& part, int parent) {
  if (::mkdirat(parent, name_.c_str(), 0755) != 0 && errno != EEXIST) {
    return base::system_error(errno, "make a command's group");
  }
  part.parent = parent;
  part.directory.reset(::openat(parent, name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (part.directory) {
    part.procs.reset(::openat(*part.directory, "cgroup.procs", O_WRONLY | O_CLOEXEC));
  }
  if (!part.procs) return base::system_error(errno, "open a command's group");
  return ok();
}

Result<std::unique_ptr<CommandGroup>> CommandGroup::make(const GroupParents& parents,
                                                         const std::string& name,
                                                         const CommandLimits& limits) {
  if (parents.memory < 0) return Error(ErrorCode::kUnsupported, "no control groups for commands");
  const OwnIds own;
  std::unique_ptr<CommandGroup> group(new CommandGroup(name));
  COVE_TRY_VOID(group->add(group->memory_, parents.memory));
  COVE_TRY_VOID(group->add(group->processes_, parents.processes));
  if (limits.memory_bytes > 0) {
    const std::string bytes = std::to_string(limits.memory_bytes);
    const int memory = *group->memory_.directory;
    COVE_TRY_VOID(write_text(memory, "memory.limit_in_bytes", bytes));
    // Only where the kernel accounts for swap.
    if (::faccessat(memory, "memory.memsw.limit_in_bytes", F_OK, 0) == 0) {
      COVE_TRY_VOID(write_text(memory, "memory.memsw.limit_in_bytes", bytes));
    }
  }
  if (limits.processes > 0) {
    COVE_TRY_VOID(
        write_text(*group->processes_.directory, "pids.max", std::to_string(limits.processes)));
  }
  return group;
}

CommandGroup::~CommandGroup() {
  const OwnIds own;
  for (const Part* part : {&memory_, &processes_}) {
    if (part->parent >= 0) ::unlinkat(part->parent, name_.c_str(), AT_REMOVEDIR);
  }
}

std::vector<int> CommandGroup::joins() const { return {*memory_.procs, *processes_.procs}; }

bool CommandGroup::kill() {
  const OwnIds own;
  // Nothing that is killed one by one can be outrun by what forks meanwhile.
  const bool closed = write_text(*processes_.directory, "pids.max", "0").has_value();
  const std::string pids = read_text(*processes_.directory, "cgroup.procs");
  std::string_view rest = pids;
  bool any = false;
  while (!rest.empty()) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
    if (error != std::errc()) break;
    rest.remove_prefix(
        std::min<std::size_t>(static_cast<std::size_t>(end - rest.data()) + 1, rest.size()));
    any = true;
    if (pid > 1) ::kill(pid, SIGKILL);
  }
  return closed && !any;
}

std::uint64_t CommandGroup::oom_kills() const {
  const base::UniqueFd fd(::openat(*memory_.directory, "memory.oom_control", O_RDONLY | O_CLOEXEC));
  return fd ? read_oom_kills(*fd) : 0;
}

std::uint64_t CommandGroup::peak_memory() const {
  return read_number(*memory_.directory, "memory.max_usage_in_bytes");
}

}  // namespace cove::agent

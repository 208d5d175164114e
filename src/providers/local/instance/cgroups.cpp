#include "providers/local/instance/cgroups.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/instance/process.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr std::uint32_t kPeriodMicroseconds = 100'000;
constexpr const char* kCommands = "commands";
constexpr const char* kAgent = "agent";

bool has_word(std::string_view list, std::string_view word, char separator) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool has_controllers(int group) {
  auto text = read_small_file(group, "cgroup.controllers");
  if (!text) return false;
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return has_word(*text, "memory", ' ') && has_word(*text, "pids", ' ');
}

/// On v2, who moves a process must be able to write the group that is above both places.
Result<void> check_can_move(const std::string& mount, const std::string& parent) {
  const auto text = read_small_file(AT_FDCWD, "/proc/self/cgroup");
  const auto line = text ? text->find("0::/") : std::string::npos;
  if (line == std::string::npos) return ok();
  const std::string own = text->substr(line + 4, text->find('\n', line) - line - 4);
  std::string common;
  std::istringstream ours(own);
  std::istringstream theirs(parent);
  std::string left;
  std::string right;
  while (std::getline(ours, left, '/') && std::getline(theirs, right, '/') && left == right) {
    common += left + "/";
  }
  const std::string procs = mount + "/" + common + "cgroup.procs";
  if (::faccessat(AT_FDCWD, procs.c_str(), W_OK, AT_EACCESS) == 0) return ok();
  return system_error(errno, "move processes from '" + own + "' to '" + parent + "'");
}

/// Walks down to `parent` below a hierarchy's root and makes what is missing. On v2 each level must
/// hand its controllers on.
Result<UniqueFd> open_parent(const std::string& mount, const std::string& parent, bool unified) {
  UniqueFd at(::open(mount.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) return system_error(errno, "open '" + mount + "'");
  std::istringstream parts(parent);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return Error(ErrorCode::kInvalidArgument, "cgroup_parent has '..' in it");
    if (::mkdirat(*at, part.c_str(), 0755) != 0 && errno != EEXIST) {
      return system_error(errno, "make group '" + mount + "/" + parent + "'");
    }
    COVE_TRY(UniqueFd next, open_directory(*at, part));
    if (unified && !has_controllers(*next)) {
      COVE_TRY_VOID(write_control(*at, "cgroup.subtree_control", "+memory +pids +cpu"));
    }
    at = std::move(next);
  }
  if (unified && !has_controllers(*at)) {
    return Error(ErrorCode::kUnsupported,
                 "'" + mount + "/" + parent + "' has no memory and pids controllers");
  }
  if (unified) {
    COVE_TRY_VOID(write_control(*at, "cgroup.subtree_control", "+memory +pids +cpu"));
  }
  if (::faccessat(*at, ".", W_OK, AT_EACCESS) != 0) {
    return system_error(errno, "write below '" + mount + "/" + parent + "'");
  }
  if (unified) COVE_TRY_VOID(check_can_move(mount, parent));
  return at;
}

Result<UniqueFd> make_group(int parent, const char* name) {
  if (::mkdirat(parent, name, 0755) != 0 && errno != EEXIST) {
    return system_error(errno, std::string("make cgroup '") + name + "'");
  }
  return open_directory(parent, name);
}

Result<UniqueFd> open_members(int group, const char* name) {
  UniqueFd fd(::openat(group, name, O_WRONLY | O_CLOEXEC));
  if (!fd) return system_error(errno, std::string("open '") + name + "'");
  return fd;
}

/// A move of a whole process waits until every processor has passed a point of rest, some 10 ms
/// after a pause. A thread that moves itself alone does not: the kernel knows that it neither ends
/// nor starts another meanwhile. On v1 a thread can, and a process of one thread is no more.
constexpr const char* kOwnThread = "tasks";
constexpr const char* kWholeProcess = "cgroup.procs";

/// Swap limits exist only where the kernel accounts for swap.
Result<void> write_if_there(int group, const std::string& name, std::string_view text) {
  if (::faccessat(group, name.c_str(), F_OK, 0) != 0) return ok();
  return write_control(group, name, text);
}

Result<void> limit_v1(const std::string& controller, int group, const SandboxLimits& limits) {
  if (controller == "memory") {
    const std::string bytes = std::to_string(limits.memory_bytes);
    COVE_TRY_VOID(write_control(group, "memory.limit_in_bytes", bytes));
    return write_if_there(group, "memory.memsw.limit_in_bytes", bytes);
  }
  if (controller == "pids") {
    return write_control(group, "pids.max", std::to_string(limits.processes));
  }
  if (limits.cpu_percent == 0) return ok();
  COVE_TRY_VOID(write_control(group, "cpu.cfs_period_us", std::to_string(kPeriodMicroseconds)));
  return write_control(
      group, "cpu.cfs_quota_us",
      std::to_string(std::uint64_t{limits.cpu_percent} * kPeriodMicroseconds / 100));
}

Result<void> limit_v2(int group, const SandboxLimits& limits) {
  COVE_TRY_VOID(write_control(group, "memory.max", std::to_string(limits.memory_bytes)));
  COVE_TRY_VOID(write_if_there(group, "memory.swap.max", "0"));
  COVE_TRY_VOID(write_control(group, "pids.max", std::to_string(limits.processes)));
  if (limits.cpu_percent == 0) return ok();
  const std::uint64_t quota = std::uint64_t{limits.cpu_percent} * kPeriodMicroseconds / 100;
  return write_control(group, "cpu.max",
                       std::to_string(quota) + " " + std::to_string(kPeriodMicroseconds));
}

void kill_members(int group) {
  if (write_control(group, "cgroup.kill", "1")) return;
  const auto pids = read_small_file(group, "cgroup.procs");
  if (!pids) return;
  std::istringstream list(*pids);
  for (pid_t pid = 0; list >> pid;) {
    const auto facts = facts_of(pid);
    if (!facts || !*facts) continue;
    // A pid read from the group may have ended since; the pidfd is of who has it now, so the group
    // is asked again before the signal.
    const auto process = Process::find(pid, (*facts)->start_time);
    const auto now = read_small_file(group, "cgroup.procs");
    if (!process || !*process || !now) continue;
    if (has_word(*now, std::to_string(pid), '\n')) (*process)->send(SIGKILL);
  }
}

}  // namespace

CgroupMounts parse_cgroup_mounts(std::string_view mountinfo) {
  CgroupMounts mounts;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    // "id parent major:minor root mount-point options [tags] - type source super-options"
    const auto separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream before(line.substr(0, separator));
    std::istringstream after(line.substr(separator + 3));
    std::string skipped;
    std::string mount_point;
    std::string type;
    std::string super_options;
    before >> skipped >> skipped >> skipped >> skipped >> mount_point;
    after >> type >> skipped >> super_options;
    if (type == "cgroup2" && mounts.unified.empty()) mounts.unified = mount_point;
    if (type != "cgroup") continue;
    if (has_word(super_options, "memory", ',')) mounts.memory = mount_point;
    if (has_word(super_options, "pids", ',')) mounts.pids = mount_point;
    if (has_word(super_options, "cpu", ',')) mounts.cpu = mount_point;
  }
  return mounts;
}

Result<CgroupMounts> cgroup_mounts() {
  constexpr std::size_t kManyMounts = 16 << 20;
  const auto text = read_small_file(AT_FDCWD, "/proc/self/mountinfo", kManyMounts);
  if (!text && is_exhausted(text.error())) return text.error();
  return text ? parse_cgroup_mounts(*text) : CgroupMounts();
}

Result<Cgroups> Cgroups::open(const CgroupMounts& mounts, const std::string& parent) {
  Cgroups groups;
  std::string obstacle = "no cgroup hierarchy with memory and pids controllers is mounted";
  if (!mounts.unified.empty()) {
    auto opened = open_parent(mounts.unified, parent, true);
    if (opened) {
      groups.unified_ = true;
      groups.hierarchies_.push_back({"", *std::move(opened)});
      return groups;
    }
    if (is_exhausted(opened.error())) return opened.error();
    obstacle = opened.error().message();
  }
  if (!mounts.memory.empty() && !mounts.pids.empty()) {
    for (const auto& [controller, mount] :
         {std::pair{"memory", mounts.memory}, {"pids", mounts.pids}, {"cpu", mounts.cpu}}) {
      if (mount.empty()) continue;
      auto opened = open_parent(mount, parent, false);
      if (!opened) {
        if (is_exhausted(opened.error())) return opened.error();
        groups.hierarchies_.clear();
        groups.obstacle_ = opened.error().message();
        return groups;
      }
      groups.hierarchies_.push_back({controller, *std::move(opened)});
    }
    return groups;
  }
  groups.obstacle_ = obstacle;
  return groups;
}

Result<InstanceCgroup> Cgroups::create(const std::string& name, const SandboxLimits& limits,
                                       std::optional<uid_t> agent) const {
  return unified_ ? create_v2(name, limits) : create_v1(name, limits, agent);
}

Result<InstanceCgroup> Cgroups::create_v1(const std::string& name, const SandboxLimits& limits,
                                          std::optional<uid_t> agent) const {
  InstanceCgroup made;
  for (const Hierarchy& hierarchy : hierarchies_) {
    COVE_TRY(const UniqueFd group, make_group(*hierarchy.parent, name.c_str()));
    COVE_TRY(UniqueFd commands, make_group(*group, kCommands));
    COVE_TRY_VOID(limit_v1(hierarchy.controller, *commands, limits));
    COVE_TRY(UniqueFd beside, open_members(*group, kOwnThread));
    COVE_TRY(UniqueFd among, open_members(*commands, kOwnThread));
    made.enter.push_back(std::move(beside));
    made.commands.push_back(std::move(among));
    // The directory only: the limits in its files stay this process's own.
    if (agent && ::fchown(*commands, *agent, *agent) != 0) {
      return system_error(errno, "hand a cgroup to the agent");
    }
    if (hierarchy.controller == "memory") made.memory = std::move(commands);
    if (hierarchy.controller == "pids") made.processes = std::move(commands);
  }
  return made;
}

Result<InstanceCgroup> Cgroups::create_v2(const std::string& name,
                                          const SandboxLimits& limits) const {
  InstanceCgroup made;
  COVE_TRY(const UniqueFd group, make_group(*hierarchies_.front().parent, name.c_str()));
  // A group with controllers for those below it holds no process itself: hence the agent's own.
  COVE_TRY_VOID(write_control(*group, "cgroup.subtree_control", "+memory +pids +cpu"));
  COVE_TRY(const UniqueFd agent, make_group(*group, kAgent));
  COVE_TRY(UniqueFd commands, make_group(*group, kCommands));
  COVE_TRY_VOID(limit_v2(*commands, limits));
  COVE_TRY(made.join, open_members(*agent, kWholeProcess));
  COVE_TRY(UniqueFd among, open_members(*commands, kWholeProcess));
  made.commands.push_back(std::move(among));
  made.memory = std::move(commands);
  return made;
}

Result<void> Cgroups::join(const InstanceCgroup& group, pid_t pid) const {
  if (!group.join) return ok();
  const std::string text = std::to_string(pid);
  if (::write(*group.join, text.data(), text.size()) < 0 && errno != ESRCH) {
    return system_error(errno, "move process " + text + " into the instance's cgroup");
  }
  return ok();
}

void Cgroups::kill(const std::string& name) const {
  for (const Hierarchy& hierarchy : hierarchies_) {
    for (const std::string& path : {name + "/" + kCommands, name + "/" + kAgent, name}) {
      const auto group = open_directory(*hierarchy.parent, path);
      if (group) kill_members(**group);
    }
  }
}

bool Cgroups::remove(const std::string& name) const {
  bool gone = true;
  for (const Hierarchy& hierarchy : hierarchies_) {
    const auto group = open_directory(*hierarchy.parent, name);
    if (!group) {
      if (group.error().code() != ErrorCode::kNotFound) gone = false;
      continue;
    }
    // The agent may have made a group per command below.
    const auto commands = open_directory(**group, kCommands);
    const auto names = commands ? names_in(**commands) : Result<std::vector<std::string>>({});
    for (const std::string& below : names ? *names : std::vector<std::string>()) {
      ::unlinkat(**commands, below.c_str(), AT_REMOVEDIR);
    }
    ::unlinkat(**group, kCommands, AT_REMOVEDIR);
    ::unlinkat(**group, kAgent, AT_REMOVEDIR);
    const int removed = ::unlinkat(*hierarchy.parent, name.c_str(), AT_REMOVEDIR);
    if (removed != 0 && errno != ENOENT) gone = false;
  }
  return gone;
}

Result<std::vector<std::string>> Cgroups::find(const std::string& prefix) const {
  std::vector<std::string> found;
  for (const Hierarchy& hierarchy : hierarchies_) {
    COVE_TRY(const auto names, names_in(*hierarchy.parent));
    for (const std::string& name : names) {
      if (name.starts_with(prefix) && std::find(found.begin(), found.end(), name) == found.end()) {
        found.push_back(name);
      }
    }
  }
  return found;
}

SandboxLimits with_defaults(const SandboxLimits& limits) {
  SandboxLimits filled = limits;
  if (filled.memory_bytes == 0) filled.memory_bytes = 2ULL << 30;
  if (filled.processes == 0) filled.processes = 1024;
  return filled;
}

}  // namespace cove::local

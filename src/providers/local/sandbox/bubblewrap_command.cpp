#include "providers/local/sandbox/bubblewrap_command.hpp"

#include <initializer_list>

#include "providers/local/sandbox/root_capabilities.hpp"

namespace cove::local {

namespace {

class Arguments {
 public:
  explicit Arguments(std::string program) { list_.push_back(std::move(program)); }

  void add(std::initializer_list<std::string> words) { list_.insert(list_.end(), words); }

  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

/// What the agent has: what commands get, where they are root; else what it takes to give commands
/// the sandbox's uid (SETUID, SETGID) and to end them (KILL). And what it takes to take every other
/// capability away for good (SETPCAP: from the bounding set too).
void add_capabilities(Arguments& arguments, const SandboxSpec& spec) {
  arguments.add({"--cap-add", "CAP_SETPCAP"});
  if (spec.is_root) {
    for (const RootCapability& kept : kRootCapabilities) arguments.add({"--cap-add", kept.name});
    return;
  }
  for (const char* kept : {"CAP_SETUID", "CAP_SETGID", "CAP_KILL"}) {
    arguments.add({"--cap-add", kept});
  }
}

void add_isolation(Arguments& arguments, const SandboxSpec& spec) {
  // --as-pid-1: the agent itself reaps. --new-session: no terminal of the host's to push input
  // into. Not --die-with-parent: an instance outlives the process that started it.
  arguments.add({"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
                 "--as-pid-1", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"});
  if (!spec.host_network) arguments.add({"--unshare-net"});
  if (spec.user_namespace_fd < 0 && !spec.in_user_namespace) {
    arguments.add({"--unshare-user", "--uid", "1000", "--gid", "1000"});
    return;
  }
  if (!spec.in_user_namespace) {
    arguments.add({"--userns", std::to_string(spec.user_namespace_fd), "--uid", "0", "--gid", "0"});
  }
  add_capabilities(arguments, spec);
}

void add_entry(Arguments& arguments, const SystemEntry& entry) {
  switch (entry.kind) {
    case SystemEntry::Kind::kBind:
      return arguments.add({"--ro-bind", entry.source, entry.destination});
    case SystemEntry::Kind::kSymlink:
      return arguments.add({"--symlink", entry.source, entry.destination});
    case SystemEntry::Kind::kOwn: return arguments.add({"--bind", entry.source, entry.destination});
    case SystemEntry::Kind::kEmpty:
      return arguments.add({"--perms", "0755", "--dir", entry.destination});
  }
}

void add_system(Arguments& arguments, const SandboxSpec& spec) {
  for (const SystemEntry& entry : spec.system.entries) add_entry(arguments, entry);
  if (!spec.system.own_etc) {
    arguments.add({"--ro-bind", spec.etc, "/etc"});
    for (const std::string& name : spec.etc_bound) {
      arguments.add({"--ro-bind", "/etc/" + name, "/etc/" + name});
    }
    arguments.add({"--perms", "0755", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"});
  } else {
    if (spec.system.has_passwd) arguments.add({"--ro-bind", spec.etc + "/passwd", "/etc/passwd"});
    if (spec.system.has_group) arguments.add({"--ro-bind", spec.etc + "/group", "/etc/group"});
  }
  if (spec.host_network) {
    if (!spec.system.own_etc || spec.system.has_resolv_conf) {
      arguments.add({"--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"});
    }
    if (!spec.system.own_etc || spec.system.has_hosts) {
      arguments.add({"--ro-bind-try", "/etc/hosts", "/etc/hosts"});
    }
  }
}

void add_own_places(Arguments& arguments, const SandboxSpec& spec) {
  const std::string size = std::to_string(spec.tmp_bytes);
  arguments.add({"--proc", "/proc", "--dev", "/dev"});
  arguments.add({"--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"});
  arguments.add({"--perms", "1777", "--size", size, "--tmpfs", "/tmp"});
  if (spec.is_root) {
    // What packages keep there while they run: sockets, pid files, locks.
    arguments.add({"--perms", "0755", "--size", size, "--tmpfs", "/run"});
    arguments.add({"--perms", "1777", "--dir", "/run/lock", "--ro-bind", spec.agent, kAgentPath});
  } else {
    arguments.add({"--perms", "0755", "--dir", "/run", "--ro-bind", spec.agent, kAgentPath});
  }
  arguments.add({"--bind", spec.workspace, "/workspace"});
  arguments.add({"--perms", "0755", "--dir", "/home", "--bind", spec.home, "/home/sandbox"});
  // What is left writable are the volume, /tmp and /dev/shm: each has a bound.
  arguments.add({"--remount-ro", "/dev", "--remount-ro", "/"});
}

}  // namespace

std::vector<std::string> bubblewrap_command(const SandboxSpec& spec) {
  Arguments arguments(spec.bubblewrap);
  add_isolation(arguments, spec);
  add_system(arguments, spec);
  add_own_places(arguments, spec);
  arguments.add({"--chdir", "/", "--seccomp", std::to_string(spec.seccomp_fd)});
  arguments.add({"--", kAgentPath, "guest", std::to_string(spec.boot_fd)});
  return arguments.take();
}

}  // namespace cove::local

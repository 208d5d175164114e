#include "providers/local/instance/launch.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cove/grants/proxy_network.hpp>

#include "base/system/system_error.hpp"
#include "base/values/proxy_exceptions.hpp"
#include "providers/local/instance/quiet_start.hpp"
#include "providers/local/launcher/plan.hpp"
#include "providers/local/machine_facts.hpp"
#include "providers/local/root_powers.hpp"
#include "providers/local/sandbox/bubblewrap_command.hpp"
#include "providers/local/sandbox/made_up_etc.hpp"
#include "providers/local/sandbox/root_capabilities.hpp"
#include "providers/local/sandbox/seccomp_filter.hpp"
#include "providers/local/small_files.hpp"
#include "wire/boot.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

constexpr off_t kMaxErrors = 8 * 1024;

/// The descriptors that the launcher is started with: position = number there.
class Inheritance {
 public:
  int pass(int fd) {
    descriptors_.push_back(fd);
    return static_cast<int>(descriptors_.size()) - 1;
  }
  void put(int number, int fd) { descriptors_[static_cast<std::size_t>(number)] = fd; }
  const std::vector<int>& all() const { return descriptors_; }

 private:
  std::vector<int> descriptors_;
};

class PlanText {
 public:
  void add(std::initializer_list<std::string> words) {
    for (const std::string& word : words) add(word);
  }
  void add(const std::string& word) { text_.append(word.c_str(), word.size() + 1); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// An anonymous file that takes 8 KiB and no more: who holds it open for writing for days, as the
/// agent does, cannot fill the machine's memory with it.
Result<UniqueFd> make_error_file() {
  UniqueFd fd(::memfd_create("cove-errors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(*fd, kMaxErrors) != 0 ||
      ::fcntl(*fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return system_error(errno, "make a file for errors");
  }
  return fd;
}

std::map<std::string, std::string> base_environment(const char* user) {
  return {{"PATH",
           "/home/sandbox/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
           "/sbin:/bin"},
          {"HOME", "/home/sandbox"},
          {"USER", user},
          {"LOGNAME", user},
          {"SHELL", "/bin/sh"},
          {"LANG", "C.UTF-8"},
          {"TERM", "dumb"},
          {"TMPDIR", "/tmp"},
          {"COVE_SANDBOX", "1"}};
}

/// Network `proxy`: what the agent is told of it. The namespace is the sandbox's own, so the port
/// is free.
void add_proxy(const SandboxPolicy& policy, wire::AgentBoot& boot) {
  constexpr std::uint16_t kProxyPort = 3128;
  const grants::ProxyNetwork* proxy = policy.proxy_network();
  if (proxy == nullptr || policy.has_host_network()) return;
  std::vector<std::string> hosts;
  for (const grants::ProxyRule& rule : proxy->allow) hosts.push_back(rule.host);
  boot.proxy = true;
  boot.proxy_port = kProxyPort;
  boot.proxy_exceptions = base::proxy_exceptions(hosts);
}

wire::AgentBoot boot_of(const LaunchSpec& spec, Inheritance& inheritance, int lock, int listener) {
  wire::AgentBoot boot;
  boot.deployment = spec.instance.volume.deployment.str();
  boot.sandbox = spec.instance.volume.sandbox.str();
  boot.generation = spec.instance.volume.generation.str();
  boot.epoch = number_of(spec.instance.epoch);
  boot.lock_fd = lock;
  boot.listen_fd = inheritance.pass(listener);
  const bool is_root = spec.system != nullptr;
  boot.uid = boot.gid = is_root ? 0 : kSandboxUid;
  if (is_root) boot.capabilities = root_capability_mask();
  boot.environment = base_environment(is_root ? "root" : "sandbox");
  add_proxy(spec.policy, boot);
  if (spec.cgroup != nullptr) {
    for (const UniqueFd& procs : spec.cgroup->commands) {
      boot.command_cgroup_fds.push_back(inheritance.pass(*procs));
    }
    boot.memory_cgroup_fd = inheritance.pass(*spec.cgroup->memory);
    if (spec.cgroup->processes) {
      boot.processes_cgroup_fd = inheritance.pass(*spec.cgroup->processes);
    }
  } else {
    boot.address_space_bytes = spec.policy.limits.memory_bytes;
    boot.processes = spec.policy.limits.processes;
    boot.best_effort_limits = true;
  }
  return boot;
}

/// How bubblewrap finds what a descriptor is. Where the host is root, it runs as a uid that cannot
/// pass the state directory: there the launcher stages it first.
class Sources {
 public:
  Sources(bool staged, Inheritance& inheritance, PlanText& plan)
      : staged_(staged), inheritance_(inheritance), plan_(plan) {}

  Result<std::string> path_of(int fd, const char* kind, const char* name) {
    if (staged_) {
      plan_.add({"stage", std::to_string(inheritance_.pass(fd)), kind, name});
      return std::string(kStagePath) + "/" + name;
    }
    std::string path(4096, '\0');
    const ssize_t length = ::readlink(descriptor_path(fd).c_str(), path.data(), path.size());
    if (length < 0) return system_error(errno, "find the path of a descriptor");
    path.resize(static_cast<std::size_t>(length));
    return path;
  }

 private:
  bool staged_;
  Inheritance& inheritance_;
  PlanText& plan_;
};

Result<SystemView> system_view_of(const SandboxPolicy& policy, Sources& sources, UniqueFd& tree) {
  if (policy.root_tree.empty()) return host_system_view();
  tree.reset(::open(policy.root_tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tree) {
    return Error(ErrorCode::kInvalidArgument,
                 "the root tree '" + policy.root_tree + "' cannot be opened")
        .with_cause(system_error(errno, "open '" + policy.root_tree + "'"));
  }
  COVE_TRY(const std::string path, sources.path_of(*tree, "dir", "tree"));
  return tree_system_view(*tree, path);
}

/// The launcher makes the layer's overlays before anything else sees them.
Result<SystemView> layered_view_of(const SystemLayer& layer, bool staged, Sources& sources,
                                   Inheritance& inheritance, PlanText& plan) {
  std::string place = kStagePath;
  if (!staged) {
    COVE_TRY(place, sources.path_of(*layer.part.overlaid, "dir", "overlaid"));
  }
  SystemView view;
  view.own_etc = true;
  view.has_resolv_conf = layer.base.has_resolv_conf;
  view.has_hosts = layer.base.is_host;
  using Kind = SystemEntry::Kind;
  for (std::size_t i = 0; i < layer.base.made.size(); ++i) {
    const std::string& name = layer.base.made[i];
    COVE_TRY(const std::string path, sources.path_of(*layer.part.made[i], "dir", name.c_str()));
    view.entries.push_back({Kind::kOwn, path, "/" + name});
  }
  plan.add({"layers", std::to_string(inheritance.pass(*layer.part.overlaid))});
  for (const OverlaidDirectory& directory : layer.base.overlaid) {
    plan.add({"layer", std::to_string(inheritance.pass(*directory.lower)),
              directory.is_guarded ? "guarded" : "whole", directory.name});
    const std::string source = place + "/" + directory.name + (staged ? "" : "/merged");
    view.entries.push_back({Kind::kOwn, source, directory.destination});
  }
  view.entries.insert(view.entries.end(), layer.base.others.begin(), layer.base.others.end());
  return view;
}

/// What must stay open until the launcher has its own copies.
struct Held {
  UniqueFd workspace;
  UniqueFd home;
  UniqueFd tree;
  UniqueFd seccomp;
  UniqueFd boot;
  UniqueFd plan;
};

Result<SandboxSpec> sandbox_of(const LaunchTools& tools, const LaunchSpec& spec, Sources& sources,
                               Held& held) {
  const auto open_part = [&](const char* name) -> Result<UniqueFd> {
    UniqueFd fd(
        ::openat(*spec.volume.directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd) return fd;
    return part_error(errno, name, "volume '" + path_of(spec.instance.volume) + "'");
  };
  SandboxSpec sandbox;
  sandbox.bubblewrap = tools.bubblewrap;
  COVE_TRY(held.workspace, open_part("workspace"));
  COVE_TRY(held.home, open_part("home"));
  COVE_TRY(sandbox.workspace, sources.path_of(*held.workspace, "dir", "workspace"));
  COVE_TRY(sandbox.home, sources.path_of(*held.home, "dir", "home"));
  COVE_TRY(sandbox.agent, sources.path_of(*tools.image.agent, "file", "agent"));
  sandbox.is_root = spec.system != nullptr;
  if (!sandbox.is_root) {
    COVE_TRY(sandbox.etc, sources.path_of(spec.etc, "dir", "etc"));
    sandbox.etc_bound = MadeUpEtc::bound_directories();
    COVE_TRY(sandbox.system, system_view_of(spec.policy, sources, held.tree));
  }
  sandbox.host_network = spec.policy.has_host_network();
  sandbox.tmp_bytes = spec.policy.limits.memory_bytes / 4;
  return sandbox;
}

void add_subordinate(PlanText& plan, const SubordinateIds& ids) {
  plan.add({"subordinate", ids.map_uids, ids.map_gids, std::to_string(ids.first_uid),
            std::to_string(ids.first_gid), std::to_string(SubordinateIds::kCount)});
}

void add_exec(PlanText& plan, const std::vector<std::string>& command) {
  plan.add({"exec", command.front(), std::to_string(command.size())});
  for (const std::string& word : command) plan.add(word);
}

}  // namespace

Result<const LaunchTools*> LaunchToolbox::tools() {
  const std::lock_guard guard(mutex_);
  if (tools_) return &*tools_;
  COVE_TRY_VOID(check_root_powers());
  LaunchTools found;
  const auto bubblewrap = find_bubblewrap(settings_.bubblewrap);
  // Looked up again the next time: it may have been installed meanwhile.
  if (!bubblewrap) return bubblewrap_missing(settings_.bubblewrap);
  found.bubblewrap = *bubblewrap;
  COVE_TRY(found.image, open_agent_image(settings_.state, settings_.agent, settings_.log.get()));
  COVE_TRY(found.seccomp, seccomp_program(is_range_root() ? AgentUid::kOwn : AgentUid::kShared));
  // Root inside may take any uid, the agent's too, whatever that is.
  COVE_TRY(found.root_seccomp, seccomp_program(AgentUid::kShared, SystemRoot::kOwn));
  return &tools_.emplace(std::move(found));
}

Result<Launched> launch(const LaunchTools& tools, const LaunchSpec& spec, int listener) {
  Launched launched;
  COVE_TRY(launched.errors, make_error_file());
  Held held;
  Inheritance inheritance;
  // bubblewrap keeps 0 to 2 open in the process that waits, and closes all else there: so the lock
  // is its standard input, and free only when it and the agent are both gone.
  const int lock = inheritance.pass(spec.lock.fd());
  inheritance.pass(*launched.errors);
  inheritance.pass(*launched.errors);
  const int plan_number = inheritance.pass(-1);
  PlanText plan;

  const std::string& filter = spec.system != nullptr ? tools.root_seccomp : tools.seccomp;
  COVE_TRY(held.seccomp, sealed_memory("cove-seccomp", filter));
  const wire::AgentBoot boot = boot_of(spec, inheritance, lock, listener);
  COVE_TRY(held.boot, sealed_memory("cove-boot", wire::to_json(boot)));
  const auto& range = spec.volume.marker.range;
  Sources sources(range.has_value(), inheritance, plan);
  COVE_TRY(SandboxSpec sandbox, sandbox_of(tools, spec, sources, held));
  if (spec.system != nullptr) {
    COVE_TRY(sandbox.system,
             layered_view_of(*spec.system, range.has_value(), sources, inheritance, plan));
  }
  sandbox.seccomp_fd = inheritance.pass(*held.seccomp);
  sandbox.boot_fd = inheritance.pass(*held.boot);
  const int run_directory = inheritance.pass(spec.run_directory);
  if (range) {
    sandbox.user_namespace_fd = kUserNamespaceFd;
    plan.add({"own", std::to_string(range->first), tools.bubblewrap});
  } else if (spec.system != nullptr) {
    sandbox.in_user_namespace = true;
    add_subordinate(plan, *spec.system->subordinate);
  }
  if (spec.cgroup != nullptr) {
    for (const UniqueFd& members : spec.cgroup->enter) {
      plan.add({"enter", std::to_string(inheritance.pass(*members))});
    }
  }
  const InstanceRecord record{spec.instance, spec.cgroup_name, spec.space, 0, 0};
  plan.add({"record", std::to_string(run_directory), kRecordName, record_prefix(record)});
  add_exec(plan, bubblewrap_command(sandbox));

  COVE_TRY(held.plan, sealed_memory("cove-plan", plan.text()));
  inheritance.put(plan_number, *held.plan);
  COVE_TRY(launched.process,
           start_quietly(*tools.image.launcher, {"cove-launcher"}, inheritance.all()));
  return launched;
}

std::string errors_of(const Launched& launched) {
  std::string text(static_cast<std::size_t>(kMaxErrors), '\0');
  const ssize_t got = ::pread(*launched.errors, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  text.resize(std::min(text.find('\0'), text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace cove::local

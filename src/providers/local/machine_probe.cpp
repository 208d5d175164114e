#include "providers/local/machine_probe.hpp"

#include <array>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/system_clock.hpp"
#include "base/text/display_text.hpp"
#include "providers/local/agent_image.hpp"
#include "providers/local/instance/cgroups.hpp"
#include "providers/local/instance/process.hpp"
#include "providers/local/instance/quiet_start.hpp"
#include "providers/local/launcher/plan.hpp"
#include "providers/local/machine_facts.hpp"
#include "providers/local/root_powers.hpp"
#include "providers/local/sandbox/seccomp_filter.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/state_directory.hpp"
#include "providers/local/volume/uid_ranges.hpp"

namespace cove::local {

using base::UniqueFd;
using Level = ProbeFinding::Level;

namespace {

constexpr const char* kProof = "cove-probe";
constexpr std::size_t kManyLines = 4U << 20U;
constexpr std::chrono::milliseconds kTrialBound{10'000};

UidRangesConfig ranges_of(const LocalOptions& options) {
  return UidRangesConfig::of(options.uid_directory, options.uid_base, options.uid_ranges);
}

ProbeFinding broken(std::string subject, const Error& error, std::string remedy = {}) {
  return {Level::kBroken, std::move(subject), error.describe(), std::move(remedy)};
}

std::string text_in(int fd) {
  std::string text(4096, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string trial_plan(const std::string& bubblewrap, const LocalOptions& options) {
  std::vector<std::string> command = {
      bubblewrap, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--cap-drop",
      "ALL"};
  std::vector<std::string> words;
  if (is_range_root()) {
    words.insert(words.end(), {"own", std::to_string(ranges_of(options).base), bubblewrap});
    command.insert(command.end(),
                   {"--userns", std::to_string(kUserNamespaceFd), "--uid", "0", "--gid", "0"});
  } else {
    command.insert(command.end(), {"--unshare-user", "--uid", "1000", "--gid", "1000"});
  }
  command.insert(command.end(), {"--ro-bind",
                                 "/usr",
                                 "/usr",
                                 "--ro-bind-try",
                                 "/lib",
                                 "/lib",
                                 "--ro-bind-try",
                                 "/lib64",
                                 "/lib64",
                                 "--ro-bind-try",
                                 "/bin",
                                 "/bin",
                                 "--proc",
                                 "/proc",
                                 "--dev",
                                 "/dev",
                                 "--tmpfs",
                                 "/tmp",
                                 "--",
                                 "/bin/echo",
                                 kProof});
  words.insert(words.end(), {"exec", bubblewrap, std::to_string(command.size())});
  words.insert(words.end(), command.begin(), command.end());
  std::string plan;
  for (const std::string& word : words) plan.append(word.c_str(), word.size() + 1);
  return plan;
}

/// Starts a sandbox that proves itself by what it prints: who reaps it is not known here.
Result<void> try_sandbox(const std::string& bubblewrap, const AgentImage& image,
                         const LocalOptions& options) {
  COVE_TRY_VOID(check_root_powers());
  COVE_TRY(const UniqueFd plan, sealed_memory("cove-plan", trial_plan(bubblewrap, options)));
  const UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd output(::memfd_create("cove-probe", MFD_CLOEXEC));
  const UniqueFd errors(::memfd_create("cove-probe", MFD_CLOEXEC));
  const std::array descriptors = {*input, *output, *errors, *plan};
  COVE_TRY(const UniqueFd started, start_quietly(*image.launcher, {"cove-launcher"}, descriptors));
  COVE_TRY(const auto process, Process::behind(*started));
  const bool ended = !process || process->has_ended(kTrialBound);
  reap_adopted(*started);
  if (text_in(*output).starts_with(kProof)) return ok();
  std::string words = text_in(*errors);
  if (!ended) words += " (it did not end)";
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return explain_start_failure(words);
}

ProbeFinding limits_finding(const LocalOptions& options) {
  const auto mounts = cgroup_mounts();
  if (!mounts) return broken("limits", mounts.error());
  const auto groups =
      Cgroups::open(*mounts, options.cgroup_parent.empty() ? "cove" : options.cgroup_parent);
  if (!groups) return broken("limits", groups.error());
  if (groups->limits()) {
    return {Level::kGood, "limits",
            groups->unified() ? "memory, processes and processor by cgroup v2"
                              : "memory, processes and processor by cgroup v1",
            ""};
  }
  return {Level::kLimited, "limits",
          "best effort only (per command, by rlimits): " + groups->obstacle(),
          "run as root, or delegate a cgroup v2 subtree and name it in provider.cgroup_parent"};
}

ProbeFinding ranges_finding(const LocalOptions& options) {
  if (::geteuid() != 0) {
    return {Level::kLimited, "separate users",
            "all sandboxes run as this user; its files outside are hidden, not owned by another",
            "run as root for a host uid range of its own per volume"};
  }
  if (const auto powers = check_root_powers(); !powers) {
    return broken("separate users", powers.error());
  }
  if (!is_range_root()) {
    return {Level::kLimited, "separate users",
            "this process is uid 0 of a user namespace with few ids: all sandboxes run as its one "
            "user, as an ordinary user's do",
            "run as the machine's root, or map 65,536 ids and more into the namespace, for a host "
            "uid range of its own per volume"};
  }
  const UidRangesConfig ranges = ranges_of(options);
  const auto subuids = read_small_file(AT_FDCWD, "/etc/subuid", kManyLines);
  const auto other = subuid_owner(subuids ? *subuids : "", ranges.base,
                                  std::uint64_t{ranges.count} * UidRange::kCount);
  if (other) {
    return {Level::kLimited, "separate users",
            "the uids from " + std::to_string(ranges.base) +
                " on overlap those that /etc/subuid gives to " + base::quoted(*other),
            "set provider.uid_base and provider.uid_ranges to ids that nobody has"};
  }
  return {Level::kGood, "separate users",
          "each volume has its own 65,536 host uids, given out in " + ranges.directory, ""};
}

/// systemd ends everything in a service's group with the service, unless told otherwise.
ProbeFinding service_finding() {
  const auto text = read_small_file(AT_FDCWD, "/proc/self/cgroup");
  if (!text || text->find(".service") == std::string::npos) {
    return {Level::kGood, "outliving the host", "sandboxes go on when this process ends", ""};
  }
  return {Level::kLimited, "outliving the host",
          "this process is in a service's group: systemd ends its sandboxes with it",
          "set KillMode=process in the unit, or provider.cgroup_parent outside of the service's "
          "cgroup v2 group"};
}

}  // namespace

std::vector<ProbeFinding> probe_machine(const LocalOptions& options) {
  std::vector<ProbeFinding> findings;
  base::SystemIds ids;
  const auto state = StateDirectory::open(options.state_dir, ids);
  if (!state) {
    findings.push_back(broken("state directory", state.error()));
    return findings;
  }
  const auto bubblewrap = find_bubblewrap(options.bubblewrap);
  if (!bubblewrap) {
    findings.push_back(
        {Level::kBroken, "bubblewrap", bubblewrap_missing(options.bubblewrap).message(),
         options.bubblewrap.empty() ? "apt install bubblewrap"
                                    : "correct provider.bubblewrap, or leave it out"});
  } else {
    findings.push_back({Level::kGood, "bubblewrap", *bubblewrap, ""});
  }
  const auto image = open_agent_image(state->root(), options.agent, nullptr);
  if (!image) findings.push_back(broken("agent", image.error()));
  if (bubblewrap && image) {
    const auto tried = try_sandbox(*bubblewrap, *image, options);
    if (tried) {
      findings.push_back({Level::kGood, "namespaces", "a sandbox was started and ended", ""});
    } else {
      const auto obstacle = namespace_obstacle();
      findings.push_back(
          broken("namespaces", tried.error(), obstacle ? obstacle->remedy : std::string()));
    }
  }
  const auto filter = seccomp_program(AgentUid::kShared);
  if (!filter) findings.push_back(broken("seccomp", filter.error()));
  findings.push_back(limits_finding(options));
  findings.push_back(ranges_finding(options));
  findings.push_back(service_finding());
  return findings;
}

}  // namespace cove::local

#include "providers/local/instance/instances.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "providers/local/instance/agent_socket.hpp"
#include "providers/local/instance/strays.hpp"
#include "providers/local/machine_facts.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::UniqueFd;
using std::chrono::milliseconds;

namespace {

/// How long a step waits for processes that were killed; namespaces take some milliseconds.
constexpr milliseconds kEndBound{100};

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Which epoch of a volume was stopped last. A request to start it that was on its way for long
/// must not bring back what an archive was made after.
constexpr const char* kStopped = "stopped";

Result<Epoch> stopped_epoch(int volume) {
  const Result<std::string> text = read_small_file(volume, kStopped);
  if (!text && text.error().code() != ErrorCode::kNotFound) return text.error();
  return Epoch(text ? number_in(*text).value_or(0) : 0);
}

/// Where there is no room for it the stop goes on: to end what runs is worth more.
void note_stopped(int volume, Epoch epoch) {
  const auto before = stopped_epoch(volume);
  if (before && epoch <= *before) return;
  static_cast<void>(replace_file(volume, kStopped, std::to_string(number_of(epoch)), Durable::kNo));
}

bool is_missing(const Error& error) { return error.code() == ErrorCode::kNotFound; }

}  // namespace

Instances::Instances(const StateDirectory& state, const Volumes& volumes, const Cgroups& cgroups,
                     LaunchToolbox& toolbox, MadeUpEtc& etc, SystemLayers& layers, PidSpace here)
    : state_(state),
      volumes_(volumes),
      cgroups_(cgroups),
      toolbox_(toolbox),
      etc_(etc),
      layers_(layers),
      here_(std::move(here)) {}

Result<Instances::Sight> Instances::look(const VolumeRef& volume) const {
  Sight sight;
  // The lock first: an instance that starts in between has its record by the time it is read.
  const Result<VolumeLock> lock = volumes_.open_lock(volume);
  if (!lock && !is_missing(lock.error())) return lock.error();
  if (lock) {
    COVE_TRY(sight.operation, lock->is_held_elsewhere(LockRole::kOperation));
    COVE_TRY(sight.locked, lock->is_held_elsewhere(LockRole::kInstance));
  }
  COVE_TRY(sight.record, read_record(state_.run(), volume));
  if (sight.record) {
    COVE_TRY(const auto process, find_process(*sight.record, here_));
    sight.alive = process.has_value();
  }
  return sight;
}

/// Kills an instance. True once nothing of it lives, as far as its processes tell; the caller asks
/// the lock too.
Result<bool> Instances::end(const InstanceRecord& record, bool locked) const {
  COVE_TRY(const auto bubblewrap, find_process(record, here_));
  if (!bubblewrap) {
    if (!locked) return true;
    if (record.space.boot_id == here_.boot_id &&
        record.space.pid_namespace != here_.pid_namespace) {
      return Error(ErrorCode::kUnavailable,
                   "the instance was started in another container of this machine and can be "
                   "ended only from there");
    }
    if (!record.cgroup.empty()) cgroups_.kill(record.cgroup);
    kill_strays(record.instance.volume);
    return true;
  }
  // Frozen, it starts nothing between being asked for its children and being killed.
  bubblewrap->freeze();
  COVE_TRY(const auto children, bubblewrap->children());
  for (const Process& child : children) child.send(SIGKILL);
  // The agent is the sandbox's PID 1: it has ended only when everything in there has, and lets go
  // of the lock a little before that. Until then bubblewrap stays, so that the next look finds it.
  for (const Process& child : children) {
    if (!child.has_ended(kEndBound)) return false;
  }
  // Let go on, it reaps the agent and ends; killed, it would leave a zombie to a host that is
  // PID 1. Where it has no child it would go on to make one.
  COVE_TRY(const bool has_children, bubblewrap->has_children());
  if (has_children) {
    bubblewrap->send(SIGCONT);
    if (bubblewrap->has_ended(kEndBound)) return true;
  }
  bubblewrap->send(SIGKILL);
  return bubblewrap->has_ended(kEndBound);
}

std::string Instances::cgroup_prefix_of(const VolumeRef& volume) const {
  return volume.deployment.str().substr(0, 8) + "-" + volume.sandbox.str() + "-";
}

bool Instances::remove_cgroups(const VolumeRef& volume, Epoch up_to) const {
  const std::string prefix = cgroup_prefix_of(volume);
  const auto names = cgroups_.find(prefix);
  bool gone = names.has_value();
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const auto epoch = number_in(std::string_view(name).substr(prefix.size()));
    if (epoch && *epoch <= number_of(up_to) && !cgroups_.remove(name)) gone = false;
  }
  return gone;
}

/// Takes away what an ended instance left: groups, socket, record.
bool Instances::clear(const VolumeRef& volume, Epoch up_to) const {
  if (!remove_cgroups(volume, up_to)) return false;
  const std::string name = run_name_of(volume);
  const auto directory = open_directory(state_.run(), name);
  if (!directory) return is_missing(directory.error());
  for (const char* file : {kSocketName, "record.new", kRecordName}) {
    ::unlinkat(**directory, file, 0);
  }
  ::unlinkat(state_.run(), name.c_str(), AT_REMOVEDIR);
  return true;
}

Result<StartAttempt> Instances::begin_start(const InstanceRef& instance) const {
  StartAttempt attempt;
  // Before anything is touched: a volume that is not the one named changes nothing.
  COVE_TRY(attempt.volume, volumes_.open(instance.volume));
  Result<std::optional<VolumeHold>> hold = volumes_.try_hold(instance.volume);
  if (!hold && !is_missing(hold.error())) return hold.error();
  if (!hold || !*hold) return attempt;  // deleted in between: the next try says so
  attempt.hold = *std::move(hold);
  COVE_TRY(const bool offline, attempt.hold->operation.is_held_elsewhere(LockRole::kOffline));
  COVE_TRY(const Sight sight, look(instance.volume));
  if (sight.locked || sight.alive) {
    if (sight.record && sight.record->instance.epoch == instance.epoch) {
      attempt.state = StartState::kRuns;
      return attempt;
    }
    if (sight.record && sight.record->instance.epoch > instance.epoch) {
      return Error(ErrorCode::kConflict,
                   "epoch " + std::to_string(number_of(sight.record->instance.epoch)) + " of '" +
                       path_of(instance.volume) + "' runs, which is newer than " +
                       std::to_string(number_of(instance.epoch)));
    }
    // Without a record it has just been launched by a host that died: its record is coming.
    if (sight.record) COVE_TRY_VOID(end(*sight.record, sight.locked));
    attempt.state = StartState::kEnding;
    return attempt;
  }
  COVE_TRY(const Epoch stopped, stopped_epoch(*attempt.hold->directory));
  if (instance.epoch <= stopped) {
    return Error(ErrorCode::kConflict, "epoch " + std::to_string(number_of(instance.epoch)) +
                                           " of '" + path_of(instance.volume) +
                                           "' was stopped, and never starts again");
  }
  if (offline) {
    attempt.state = StartState::kOffline;
    return attempt;
  }
  if (sight.record && !clear(instance.volume, sight.record->instance.epoch)) {
    attempt.state = StartState::kEnding;
    return attempt;
  }
  COVE_TRY(attempt.instance_lock, VolumeLock::open(*attempt.hold->directory));
  COVE_TRY(const bool taken, attempt.instance_lock.try_take(LockRole::kInstance));
  if (taken) attempt.state = StartState::kReady;
  return attempt;
}

Result<StartedInstance> Instances::start(const InstanceRef& instance, const SandboxPolicy& policy,
                                         StartAttempt& attempt) const {
  Result<StartedInstance> started = try_start(instance, policy, attempt);
  // From here on those who were started hold the lock, or nobody does.
  attempt.instance_lock = VolumeLock();
  if (!started) clear(instance.volume, instance.epoch);
  return started;
}

Result<StartedInstance> Instances::try_start(const InstanceRef& instance,
                                             const SandboxPolicy& policy,
                                             const StartAttempt& attempt) const {
  COVE_TRY(const LaunchTools* tools, toolbox_.tools());
  LaunchSpec spec{.instance = instance,
                  .policy = policy,
                  .volume = *attempt.volume,
                  .lock = attempt.instance_lock,
                  .space = here_,
                  .cgroup_name = {}};
  spec.policy.limits = with_defaults(policy.limits);
  COVE_TRY(const UniqueFd etc, etc_.refresh());
  spec.etc = *etc;
  COVE_TRY_VOID(settle_owner(*attempt.volume, policy.has_writable_system()));
  std::optional<SystemLayer> layer;
  if (policy.has_writable_system()) {
    COVE_TRY(layer, layers_.open(*attempt.volume, policy, *etc));
    spec.system = &*layer;
  }
  COVE_TRY(const UniqueFd run_directory,
           make_directory(state_.run(), run_name_of(instance.volume), 0700));
  spec.run_directory = *run_directory;
  StartedInstance started;
  if (cgroups_.limits()) {
    spec.cgroup_name =
        cgroup_prefix_of(instance.volume) + std::to_string(number_of(instance.epoch));
    std::optional<uid_t> agent;
    if (const auto& range = spec.volume.marker.range) agent = range->first;
    COVE_TRY(started.cgroup, cgroups_.create(spec.cgroup_name, spec.policy.limits, agent));
    spec.cgroup = &started.cgroup;
  }
  COVE_TRY(const UniqueFd listener, listen_in(*run_directory));
  COVE_TRY(started.socket, connect_in(*run_directory));
  Result<Launched> launched = launch(*tools, spec, *listener);
  if (!launched) {
    if (launched.error().code() != ErrorCode::kPermissionDenied) return launched.error();
    return explain_start_failure(launched.error().message());
  }
  started.launched = *std::move(launched);
  if (!started.cgroup.join) return started;
  // The first move waits for the kernel's readers, some milliseconds, in which the sandbox is being
  // made; those that follow soon are free. What came of it is seen when the start is settled.
  const auto process = Process::behind(*started.launched.process);
  if (process && *process) static_cast<void>(cgroups_.join(started.cgroup, (*process)->pid()));
  return started;
}

Result<void> Instances::settle(const StartedInstance& started) const {
  if (!started.cgroup.join) return ok();
  COVE_TRY(const auto process, Process::behind(*started.launched.process));
  if (!process) return ok();  // ended already: whoever calls next is told
  COVE_TRY_VOID(cgroups_.join(started.cgroup, process->pid()));
  COVE_TRY(const auto agents, process->children());
  for (const Process& agent : agents) {
    COVE_TRY_VOID(cgroups_.join(started.cgroup, agent.pid()));
  }
  return ok();
}

Result<Step> Instances::abandon_start(const InstanceRef& instance, const StartedInstance& started,
                                      const StartAttempt& attempt) const {
  COVE_TRY(const auto process, Process::behind(*started.launched.process));
  // Frozen, it cannot write its record and start a child after the record was looked for.
  if (process) process->freeze();
  COVE_TRY(const auto record, read_record(state_.run(), instance.volume));
  if (record && record->instance == instance) {
    COVE_TRY(const bool ended, end(*record, false));
    if (!ended) return Step::kBusy;
  }
  if (process) {
    process->send(SIGKILL);
    if (!process->has_ended(kEndBound)) return Step::kBusy;
  }
  COVE_TRY(const bool locked, attempt.hold->operation.is_held_elsewhere(LockRole::kInstance));
  if (locked) {
    kill_strays(instance.volume);
    return Step::kBusy;
  }
  return clear(instance.volume, instance.epoch) ? Step::kDone : Step::kBusy;
}

Result<Step> Instances::ask_to_end(const InstanceRef& instance) const {
  COVE_TRY(const Sight sight, look(instance.volume));
  if (!sight.record || sight.record->instance.epoch > instance.epoch) return Step::kDone;
  COVE_TRY(const auto bubblewrap, find_process(*sight.record, here_));
  if (!bubblewrap) return Step::kDone;
  COVE_TRY(const auto agents, bubblewrap->children());
  for (const Process& agent : agents) agent.send(SIGTERM);
  return agents.empty() ? Step::kDone : Step::kBusy;
}

Result<Step> Instances::stop(const InstanceRef& instance) const {
  const auto ours = [&](const Sight& sight) {
    return sight.record && sight.record->instance.epoch <= instance.epoch;
  };
  COVE_TRY(Sight sight, look(instance.volume));
  if (ours(sight)) {
    COVE_TRY(const bool ended, end(*sight.record, sight.locked));
    if (!ended) return Step::kBusy;
  } else if (sight.record && (sight.alive || sight.locked)) {
    return Step::kDone;  // a newer epoch
  }
  // A start that is under way is waited for: what it started is killed above, the next time.
  auto hold = volumes_.try_hold(instance.volume);
  if (!hold && !is_missing(hold.error())) return hold.error();
  if (hold && !*hold) return Step::kBusy;
  COVE_TRY(sight, look(instance.volume));
  if (sight.record && !ours(sight)) return Step::kDone;
  if (sight.locked || sight.alive) return Step::kBusy;
  if (hold) note_stopped(*(*hold)->directory, instance.epoch);
  return clear(instance.volume, instance.epoch) ? Step::kDone : Step::kBusy;
}

Result<InstanceStatus> Instances::inspect(const InstanceRef& instance) const {
  InstanceStatus status;
  const Result<OpenedVolume> volume = volumes_.open(instance.volume);
  if (!volume && volume.error().code() != ErrorCode::kIntegrity) return volume.error();
  status.volume_present = volume.has_value();
  COVE_TRY(const Sight sight, look(instance.volume));
  if (!sight.locked && !sight.alive) return status;
  const bool same = sight.record && sight.record->instance.epoch == instance.epoch;
  // While somebody works on the volume, or before the record is written, "gone" would be a guess.
  if (same || sight.operation || !sight.record) status.state = InstanceState::kRunning;
  return status;
}

Result<UniqueFd> Instances::connect(const InstanceRef& instance) const {
  COVE_TRY_VOID(volumes_.open(instance.volume));
  COVE_TRY(const Sight sight, look(instance.volume));
  if (sight.record && (sight.locked || sight.alive) &&
      sight.record->instance.epoch != instance.epoch) {
    return Error(ErrorCode::kConflict, "epoch " +
                                           std::to_string(number_of(sight.record->instance.epoch)) +
                                           " of '" + path_of(instance.volume) + "' runs, not " +
                                           std::to_string(number_of(instance.epoch)));
  }
  const auto directory = open_directory(state_.run(), run_name_of(instance.volume));
  if (!directory && !is_missing(directory.error())) return directory.error();
  if (!directory) {
    return Error(ErrorCode::kUnavailable, "no instance runs on '" + path_of(instance.volume) + "'");
  }
  return connect_in(**directory);
}

Result<std::vector<InstanceRef>> Instances::list(const DeploymentId& deployment) const {
  std::vector<InstanceRef> found;
  COVE_TRY(const auto names, names_in(state_.run()));
  for (const std::string& name : names) {
    const auto text = read_small_file(state_.run(), name + "/" + kRecordName);
    if (!text && !is_missing(text.error())) return text.error();
    if (!text) continue;  // ended meanwhile
    const auto record = parse_instance_record(*text);
    if (!record || record->instance.volume.deployment != deployment) continue;
    COVE_TRY(const Sight sight, look(record->instance.volume));
    if (sight.locked || sight.alive) found.push_back(record->instance);
  }
  return found;
}

}  // namespace cove::local

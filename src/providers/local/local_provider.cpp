#include "providers/local/local_provider.hpp"

#include <functional>
#include <map>
#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/async/io_loop.hpp"
#include "base/async/worker_pool.hpp"
#include "guest/agent_guest.hpp"
#include "providers/local/instance/instances.hpp"
#include "providers/local/instance/quiet_start.hpp"
#include "providers/local/layer/foreign_files.hpp"
#include "providers/local/machine_facts.hpp"
#include "providers/local/offline_volume.hpp"
#include "providers/local/patience.hpp"
#include "providers/local/root_powers.hpp"
#include "providers/local/turns.hpp"
#include "providers/local/volume/pending_syncs.hpp"

namespace cove::local {

using namespace std::chrono_literals;
using base::UniqueFd;

namespace {

using BlockingStep = std::function<Result<Step>()>;

constexpr Duration kOthersWork = 60s;   ///< another call at work on the same volume
constexpr Duration kOfflineUse = 10s;   ///< an archive that was abandoned lets go of the volume
constexpr Duration kAgentAnswer = 20s;  ///< from the start to the agent's greeting
constexpr Duration kEndOfProcesses = 30s;
constexpr Duration kGraceOfCommands = 10s;

Error still_busy(const VolumeRef& volume) {
  return Error(ErrorCode::kUnavailable, "another call works on volume '" + path_of(volume) +
                                            "', or what was ended there has not gone yet")
      .with_retry_after(1s);
}

/// What was found out or made when the provider was opened; read only from then on.
struct Machine {
  StateDirectory state;
  bool root = false;
  NodeId node;
  PidSpace pid_space;
  Cgroups cgroups;
};

class LocalProvider final : public Provider {
 public:
  LocalProvider(Machine machine, const LocalOptions& options, const LocalRuntime& runtime)
      : name_(options.name),
        runtime_(runtime),
        machine_(std::move(machine)),
        toolbox_({machine_.state.root(), options.bubblewrap, options.agent, runtime.log}),
        etc_(machine_.state.root()),
        volumes_(machine_.state,
                 machine_.root ? std::optional<UidRanges>(UidRanges(UidRangesConfig::of(
                                     options.uid_directory, options.uid_base, options.uid_ranges)))
                               : std::nullopt,
                 foreign_work(toolbox_)),
        instances_(machine_.state, volumes_, machine_.cgroups, toolbox_, etc_, layers_,
                   machine_.pid_space),
        syncs_(runtime.executor, runtime.loop) {}

  std::string_view name() const override { return name_; }
  NodeId node() const override { return machine_.node; }
  ProviderCapabilities capabilities() const override {
    return {.offline_volume = true, .limits = machine_.cgroups.limits(), .egress_policy = true};
  }

  Task<Result<void>> create_volume(const VolumeRef& volume, const CallContext& call) override {
    COVE_CO_TRY_VOID(check_names(volume));
    std::optional<NewVolume> made;
    const BlockingStep create = [&]() -> Result<Step> {
      COVE_TRY(made, volumes_.create(volume));
      return made ? Step::kDone : Step::kBusy;
    };
    COVE_CO_TRY_VOID(co_await repeat(volume, create, kOthersWork, call));
    // The start waits for it, and takes longer than the disk.
    syncs_.begin(volume, std::move(made->unsynced));
    co_return ok();
  }

  Task<Result<void>> delete_volume(const VolumeRef& volume, const CallContext& call) override {
    COVE_CO_TRY_VOID(check_names(volume));
    syncs_.forget(volume);
    const BlockingStep remove = [this, &volume] { return volumes_.remove(volume); };
    co_return co_await repeat(volume, remove, kOthersWork, call);
  }

  Task<Result<std::unique_ptr<OfflineVolume>>> open_volume(const VolumeRef& volume,
                                                           VolumeAccess /*access*/,
                                                           const CallContext& call) override {
    COVE_CO_TRY_VOID(check_names(volume));
    std::unique_ptr<OfflineVolume> opened;
    const OfflineTools tools{volumes_, runtime_.executor, runtime_.loop};
    const BlockingStep open = [&]() -> Result<Step> {
      COVE_TRY(opened, try_open_offline(tools, volume));
      return opened ? Step::kDone : Step::kBusy;
    };
    COVE_CO_TRY_VOID(co_await repeat(volume, open, kOthersWork, call));
    COVE_CO_TRY_VOID(co_await syncs_.wait(volume, call));
    co_return std::move(opened);
  }

  Task<Result<void>> start_instance(const InstanceRef& instance, const SandboxPolicy& policy,
                                    const CallContext& call) override;

  Task<Result<void>> stop_instance(const InstanceRef& instance, const CallContext& call) override {
    COVE_CO_TRY_VOID(check_names(instance.volume));
    const auto cached = guests_.find(instance.volume);
    if (cached != guests_.end() && cached->second.epoch <= instance.epoch) guests_.erase(cached);
    const BlockingStep ask = [this, &instance] { return instances_.ask_to_end(instance); };
    // Who does not end in time is ended: so it does not matter what came of this.
    static_cast<void>(co_await repeat(instance.volume, ask, kGraceOfCommands, call));
    const BlockingStep stop = [this, &instance] { return instances_.stop(instance); };
    co_return co_await repeat(instance.volume, stop, kEndOfProcesses, call);
  }

  Task<Result<InstanceStatus>> inspect(const InstanceRef& instance,
                                       const CallContext& call) override {
    COVE_CO_TRY_VOID(check_names(instance.volume));
    COVE_CO_TRY_VOID(call.check(runtime_.clock));
    const auto look = [this, &instance] { return instances_.inspect(instance); };
    co_return co_await base::offload(runtime_.executor, runtime_.loop, look);
  }

  Task<Result<std::shared_ptr<Guest>>> connect(const InstanceRef& instance,
                                               const CallContext& call) override;

  Task<Result<ProviderInventory>> list(const DeploymentId& deployment,
                                       const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(runtime_.clock));
    const auto look = [&]() -> Result<ProviderInventory> {
      ProviderInventory inventory;
      COVE_TRY(inventory.volumes, volumes_.list(deployment));
      COVE_TRY(inventory.instances, instances_.list(deployment));
      COVE_TRY(inventory.others, volumes_.deployments());
      std::erase(inventory.others, deployment);
      return inventory;
    };
    co_return co_await base::offload(runtime_.executor, runtime_.loop, look);
  }

 private:
  struct CachedGuest {
    Epoch epoch{};
    MarkerIdentity marker;  ///< of the volume when the guest was reached
    std::shared_ptr<Guest> guest;
  };

  /// An attempt, and what it started where it is ready.
  struct Beginning {
    StartAttempt attempt;
    StartedInstance started;
  };

  /// Repeats a step until it is done.
  Task<Result<void>> repeat(const VolumeRef& volume, const BlockingStep& step, Duration bound,
                            const CallContext& call) {
    Patience patience(runtime_, bound);
    for (;;) {
      COVE_CO_TRY_VOID(call.check(runtime_.clock));
      COVE_CO_TRY(const Step done, co_await base::offload(runtime_.executor, runtime_.loop, step));
      if (done == Step::kDone) co_return ok();
      if (patience.is_over()) co_return still_busy(volume);
      COVE_CO_TRY_VOID(co_await patience.pause(call));
    }
  }

  Task<Result<void>> start_or_find(const InstanceRef& instance, const SandboxPolicy& policy,
                                   const CallContext& call);
  Task<Result<void>> ping(const InstanceRef& instance, const CallContext& call);
  Task<Result<Beginning>> begin_when_free(const InstanceRef& instance, const SandboxPolicy& policy,
                                          const CallContext& call);
  Task<Result<void>> finish_start(const InstanceRef& instance, Beginning& begun,
                                  const CallContext& call);
  Task<Result<void>> give_up_start(const InstanceRef& instance, StartedInstance& started,
                                   StartAttempt& attempt, Error why);
  Task<Result<std::shared_ptr<Guest>>> greet(const InstanceRef& instance, UniqueFd socket,
                                             const CallContext& call);
  std::shared_ptr<Guest> cached_guest(const InstanceRef& instance);
  void reap_when_ended(int process);

  const std::string name_;
  LocalRuntime runtime_;
  Machine machine_;
  LaunchToolbox toolbox_;
  MadeUpEtc etc_;
  SystemLayers layers_;
  Volumes volumes_;
  Instances instances_;

  // On the loop's thread only.
  std::map<VolumeRef, CachedGuest> guests_;
  PendingSyncs syncs_;  ///< of volumes made here and not used yet
  Turns turns_;
};

Task<Result<void>> LocalProvider::start_instance(const InstanceRef& instance,
                                                 const SandboxPolicy& policy,
                                                 const CallContext& call) {
  COVE_CO_TRY_VOID(check_names(instance.volume));
  COVE_CO_TRY_VOID(co_await start_or_find(instance, policy, call));
  co_return co_await syncs_.wait(instance.volume, call);
}

Task<Result<void>> LocalProvider::start_or_find(const InstanceRef& instance,
                                                const SandboxPolicy& policy,
                                                const CallContext& call) {
  // One that runs but ends just now does not answer any more: it is then started anew.
  Patience patience(runtime_, kOfflineUse);
  for (;;) {
    COVE_CO_TRY(Beginning begun, co_await begin_when_free(instance, policy, call));
    if (begun.attempt.state == StartState::kReady) {
      co_return co_await finish_start(instance, begun, call);
    }
    const auto answered = co_await ping(instance, call);
    if (answered) co_return ok();
    if (answered.error().code() != ErrorCode::kUnavailable || patience.is_over()) {
      co_return answered.error();
    }
    begun = Beginning();
    COVE_CO_TRY_VOID(co_await patience.pause(call));
  }
}

/// That a connection is up says little: what is behind it may have been killed just now.
Task<Result<void>> LocalProvider::ping(const InstanceRef& instance, const CallContext& call) {
  COVE_CO_TRY(const auto guest, co_await connect(instance, call));
  CallContext bounded = call;
  const Instant bound = runtime_.clock.now() + kAgentAnswer;
  if (!bounded.deadline || *bounded.deadline > bound) bounded.deadline = bound;
  const auto status = co_await guest->status(bounded);
  if (status) co_return ok();
  guests_.erase(instance.volume);
  co_return status.error();
}

/// Waits until this call alone may start, and starts; or finds that the epoch runs.
Task<Result<LocalProvider::Beginning>> LocalProvider::begin_when_free(const InstanceRef& instance,
                                                                      const SandboxPolicy& policy,
                                                                      const CallContext& call) {
  Patience others(runtime_, kOthersWork);
  Patience offline(runtime_, kOfflineUse);
  const auto begin = [&]() -> Result<Beginning> {
    Beginning begun;
    COVE_TRY(begun.attempt, instances_.begin_start(instance));
    if (begun.attempt.state == StartState::kReady) {
      COVE_TRY(begun.started, instances_.start(instance, policy, begun.attempt));
    }
    return begun;
  };
  for (;;) {
    COVE_CO_TRY_VOID(call.check(runtime_.clock));
    COVE_CO_TRY(Beginning begun, co_await base::offload(runtime_.executor, runtime_.loop, begin));
    const StartState state = begun.attempt.state;
    if (state == StartState::kReady || state == StartState::kRuns) co_return begun;
    if (state == StartState::kOffline && offline.is_over()) {
      co_return Error(ErrorCode::kUnavailable,
                      "volume '" + path_of(instance.volume) + "' is open offline")
          .with_retry_after(1s);
    }
    if (others.is_over()) co_return still_busy(instance.volume);
    begun = Beginning();  // nobody waits for the locks of one that waits
    COVE_CO_TRY_VOID(co_await others.pause(call));
  }
}

/// Reaches the agent of what was started.
Task<Result<void>> LocalProvider::finish_start(const InstanceRef& instance, Beginning& begun,
                                               const CallContext& call) {
  StartedInstance& started = begun.started;
  StartAttempt& attempt = begun.attempt;
  reap_when_ended(*started.launched.process);
  UniqueFd socket = std::move(started.socket);
  auto guest = co_await greet(instance, std::move(socket), call);
  if (!guest) co_return co_await give_up_start(instance, started, attempt, guest.error());
  if (!started.cgroup.join) co_return ok();  // it entered its group by itself
  const auto settle = [&] { return instances_.settle(started); };
  const auto settled = co_await base::offload(runtime_.executor, runtime_.loop, settle);
  if (settled) co_return ok();
  guests_.erase(instance.volume);
  co_return co_await give_up_start(instance, started, attempt, settled.error());
}

/// Ends what did not answer, whatever the caller's deadline, and says why it did not.
Task<Result<void>> LocalProvider::give_up_start(const InstanceRef& instance,
                                                StartedInstance& started, StartAttempt& attempt,
                                                Error why) {
  std::string errors;
  const BlockingStep end = [&]() -> Result<Step> {
    // One that ends by itself is given the time to say why.
    const auto process = Process::behind(*started.launched.process);
    const bool runs = process && *process;
    if (why.code() == ErrorCode::kUnavailable && runs) (*process)->has_ended(500ms);
    errors = errors_of(started.launched);
    return instances_.abandon_start(instance, started, attempt);
  };
  const CallContext unbounded;
  const auto ended = co_await repeat(instance.volume, end, kEndOfProcesses, unbounded);
  if (!ended && runtime_.log) {
    runtime_.log->write(LogLevel::kWarning,
                        "a start that failed is not cleared away: " + ended.error().describe());
  }
  if (why.code() == ErrorCode::kUnavailable) {
    co_return explain_start_failure(errors).with_cause(std::move(why));
  }
  if (why.code() == ErrorCode::kTimeout && !errors.empty()) {
    co_return why.with_context("said", errors);
  }
  co_return why;
}

/// Exchanges greetings, bounded, and keeps the guest for later calls.
Task<Result<std::shared_ptr<Guest>>> LocalProvider::greet(const InstanceRef& instance,
                                                          UniqueFd socket,
                                                          const CallContext& call) {
  CallContext bounded = call;
  const Instant bound = runtime_.clock.now() + kAgentAnswer;
  if (!bounded.deadline || *bounded.deadline > bound) bounded.deadline = bound;
  guest::AgentIdentity identity{instance.volume.deployment.str(), instance.volume.sandbox.str(),
                                instance.volume.generation.str(), number_of(instance.epoch)};
  const auto marker = volumes_.marker_identity(instance.volume);
  const guest::AnotherWay again{
      .dial = [this, instance] { return instances_.connect(instance); },
      .is_current = [this, volume = instance.volume,
                     marker] { return volumes_.marker_identity(volume) == marker; }};
  const guest::GuestRuntime tools{runtime_.loop, runtime_.clock, runtime_.ids, runtime_.egress,
                                  again};
  COVE_CO_TRY(auto reached, co_await guest::connect_agent(tools, std::move(socket),
                                                          std::move(identity), bounded));
  if (marker) {
    guests_.insert_or_assign(instance.volume, CachedGuest{instance.epoch, *marker, reached});
  }
  co_return reached;
}

std::shared_ptr<Guest> LocalProvider::cached_guest(const InstanceRef& instance) {
  const auto found = guests_.find(instance.volume);
  if (found == guests_.end() || found->second.epoch != instance.epoch) return nullptr;
  // One look at the directory, which the kernel has cached: also a warm call notices that its
  // volume was moved away.
  if (guest::is_connected(*found->second.guest) &&
      volumes_.marker_identity(instance.volume) == found->second.marker) {
    return found->second.guest;
  }
  guests_.erase(found);
  return nullptr;
}

Task<Result<std::shared_ptr<Guest>>> LocalProvider::connect(const InstanceRef& instance,
                                                            const CallContext& call) {
  COVE_CO_TRY_VOID(check_names(instance.volume));
  COVE_CO_TRY_VOID(call.check(runtime_.clock));
  if (auto guest = cached_guest(instance)) co_return guest;
  // Calls that come together share the connection of the first.
  COVE_CO_TRY(const auto turn, co_await turns_.wait(runtime_.loop, instance.volume, call));
  if (auto guest = cached_guest(instance)) co_return guest;
  const auto open = [this, &instance] { return instances_.connect(instance); };
  COVE_CO_TRY(UniqueFd socket, co_await base::offload(runtime_.executor, runtime_.loop, open));
  co_return co_await greet(instance, std::move(socket), call);
}

/// Where this process is what orphans are given to, an instance that ended is its zombie.
void LocalProvider::reap_when_ended(int process) {
  UniqueFd own(::fcntl(process, F_DUPFD_CLOEXEC, 0));
  if (!own) return;
  using Watched = boost::asio::posix::stream_descriptor;
  const auto watched = std::make_shared<Watched>(runtime_.loop.context(), own.release());
  watched->async_wait(Watched::wait_read, [watched](const boost::system::error_code& error) {
    if (!error) reap_adopted(watched->native_handle());
  });
}

Result<Machine> look_at_machine(const LocalOptions& options, const LocalRuntime& runtime) {
  Machine machine;
  COVE_TRY(machine.state, StateDirectory::open(options.state_dir, runtime.ids));
  machine.root = is_range_root();
  machine.node =
      options.node.empty() ? default_node(machine.state.node_file()) : NodeId(options.node);
  COVE_TRY(machine.pid_space, this_pid_space());
  COVE_TRY(const CgroupMounts mounts, cgroup_mounts());
  COVE_TRY(machine.cgroups,
           Cgroups::open(mounts, options.cgroup_parent.empty() ? "cove" : options.cgroup_parent));
  return machine;
}

}  // namespace

Result<std::shared_ptr<Provider>> open_local_provider(const LocalOptions& options,
                                                      const LocalRuntime& runtime) {
  COVE_TRY(Machine machine, look_at_machine(options, runtime));
  std::shared_ptr<Provider> provider =
      std::make_shared<LocalProvider>(std::move(machine), options, runtime);
  return provider;
}

}  // namespace cove::local

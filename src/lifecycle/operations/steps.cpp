#include "lifecycle/operations/steps.hpp"

#include <algorithm>
#include <utility>

#include "base/async/timing.hpp"
#include "lifecycle/operations/command_hold.hpp"
#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/requests/source.hpp"

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;
using Outcome = Result<StepOutcome>;

constexpr auto kAskCommands = 250ms;  // while a stop lets them finish

Outcome outcome_of(const Result<void>& done) {
  if (!done) return done.error();
  return StepOutcome{};
}

/// The volume and instance that the operation makes.
InstanceRef made_instance(const Job& job) {
  const Operation& operation = job.operation();
  const bool own_volume = !operation.generation.empty();
  return job.core->instance_of(job.at.record.sandbox_id,
                               own_volume ? operation.generation : job.at.record.generation,
                               operation.epoch);
}

Task<Outcome> create_volume(Job& job, const CallContext& call) {
  const InstanceRef made = made_instance(job);
  COVE_CO_TRY(Provider* const provider, job.core->provider_of(job.at.record));
  const auto created = co_await provider->create_volume(made.volume, call);
  co_return outcome_of(created);
}

/// An archive that lost its operation closes the volume as soon as it notices; until then the
/// start waits.
Task<Outcome> start_instance(Job& job, const CallContext& call) {
  Core& core = *job.core;
  const InstanceRef made = made_instance(job);
  COVE_CO_TRY(Provider* const provider, core.provider_of(job.at.record));
  const SandboxPolicy policy = core.policy_of(*provider);
  const Instant give_up = core.parts.clock.now() + core.settings.owner_dead_after;
  for (auto pause = 2ms;; pause = std::min(pause * 2, 200ms)) {
    const auto started = co_await provider->start_instance(made, policy, call);
    const bool is_open = !started && started.error().code() == ErrorCode::kFailedPrecondition;
    if (!is_open || core.parts.clock.now() >= give_up) co_return outcome_of(started);
    const Instant when = core.parts.clock.now() + pause;
    COVE_CO_TRY_VOID(co_await base::sleep_until(core.parts.scheduler, when, call));
  }
}

Task<Outcome> stop_instance(Job& job, const CallContext& call) {
  const InstanceRef current = job.core->instance_of(job.at.record);
  COVE_CO_TRY(Provider* const provider, job.core->provider_of(job.at.record));
  co_return outcome_of(co_await provider->stop_instance(current, call));
}

/// Nothing where the instance is gone: then there is nobody to ask.
Task<Result<std::shared_ptr<Guest>>> connect_if_there(Job& job, const InstanceRef& instance,
                                                      const CallContext& call) {
  COVE_CO_TRY(Provider* const provider, job.core->provider_of(job.at.record));
  auto guest = co_await provider->connect(instance, call);
  if (guest || guest.error().code() != ErrorCode::kUnavailable) co_return guest;
  COVE_CO_TRY(const InstanceStatus status, co_await provider->inspect(instance, call));
  if (status.state == InstanceState::kGone) co_return std::shared_ptr<Guest>();
  co_return guest;
}

/// How many commands forbid the stop.
std::uint32_t forbidding(const Job& job, const GuestStatus& status) {
  if (job.drain == Drain::kIdle) return status.keep_alive_commands;
  return std::max(status.running_commands, status.keep_alive_commands);
}

/// Waits until no command forbids the stop, or the time for that is over.
Task<Result<void>> wait_for_commands(Job& job, Guest& guest, const CallContext& call) {
  const Core& core = *job.core;
  for (;;) {
    // Before it is asked what runs, so that nothing begins between the answer and the end.
    COVE_CO_TRY_VOID(co_await hold_commands(guest, job.id, call));
    const bool in_time = core.parts.clock.now() < job.drain_until;
    if (!in_time && job.drain == Drain::kCancel) co_return ok();
    COVE_CO_TRY(const GuestStatus status, co_await guest.status(call));
    const std::uint32_t running = forbidding(job, status);
    if (running == 0) co_return ok();
    if (!in_time && job.drain != Drain::kCancel) {
      job.refused = true;
      co_return Error(ErrorCode::kFailedPrecondition,
                      "sandbox '" + job.at.record.sandbox_id.str() + "' runs " +
                          std::to_string(running) + " command(s); wait for them, or cancel them");
    }
    const Instant when = std::min<Instant>(core.parts.clock.now() + kAskCommands, job.drain_until);
    COVE_CO_TRY_VOID(co_await base::sleep_until(core.parts.scheduler, when, call));
  }
}

Task<Result<void>> ask_and_sync(Job& job, Guest& guest, const CallContext& call) {
  COVE_CO_TRY_VOID(co_await wait_for_commands(job, guest, call));
  co_return co_await guest.sync(call);
}

/// Nothing is ended here: until the next phase is in the record, a user may take the stop back, and
/// a host that stood still meanwhile would end what is in use.
Task<Outcome> drain(Job& job, const CallContext& call) {
  const InstanceRef current = job.core->instance_of(job.at.record);
  const auto guest = co_await connect_if_there(job, current, call);
  if (guest && !*guest) co_return StepOutcome{};
  Result<void> done = ok();
  if (guest) {
    done = co_await ask_and_sync(job, **guest, call);
    // What comes of the failure is up to others; if they end it, this changes nothing.
    if (!done) co_await let_commands_in(*job.core, *guest, job.id);
    job.synced = done.has_value();
  } else {
    done = guest.error();
  }
  // Where the caller wants it ended anyway, a guest that does not answer cannot forbid it.
  const bool silent = !done && done.error().code() == ErrorCode::kUnavailable;
  if (silent && job.drain == Drain::kCancel) co_return StepOutcome{};
  co_return outcome_of(done);
}

/// Writes to the disk what the guest did not, or what nobody here knows that it did. A volume that
/// is missing has nothing; the next start says so.
Task<Result<void>> sync_stopped(Job& job, const CallContext& call) {
  const InstanceRef instance = job.core->instance_of(job.at.record);
  COVE_CO_TRY(Provider* const provider, job.core->provider_of(job.at.record));
  if (job.synced || !provider->capabilities().offline_volume) co_return ok();
  auto volume = co_await provider->open_volume(instance.volume, VolumeAccess::kRead, call);
  if (!volume && volume.error().code() == ErrorCode::kIntegrity) co_return ok();
  if (!volume) co_return volume.error();
  co_return co_await (*volume)->sync(call);
}

Task<Outcome> stop_drained(Job& job, const CallContext& call) {
  COVE_CO_TRY_VOID(co_await stop_instance(job, call));
  co_return outcome_of(co_await sync_stopped(job, call));
}

Task<Outcome> upload_archive(Job& job, const CallContext& call) {
  Core& core = *job.core;
  const InstanceRef current = core.instance_of(job.at.record);
  // A start that was given up may have come late; it was never handed out.
  COVE_CO_TRY(Provider* const provider, core.provider_of(job.at.record));
  COVE_CO_TRY_VOID(co_await provider->stop_instance(current, call));
  COVE_CO_TRY(auto volume,
              co_await provider->open_volume(current.volume, VolumeAccess::kRead, call));
  SnapshotOwner owner = core.snapshot_owner(job.at.record);
  owner.saved_at = job.operation().started_at;
  const OperationId attempt = job.id;
  auto saved = co_await core.parts.snapshotter.save(*volume, owner, attempt, call);
  volume.reset();
  if (!saved) co_return saved.error();
  COVE_CO_TRY_VOID(co_await core.parts.snapshotter.verify(*saved, call));
  StepOutcome outcome;
  outcome.snapshot = *std::move(saved);
  co_return outcome;
}

Task<Outcome> delete_current_volume(Job& job, const CallContext& call) {
  const Record& record = job.at.record;
  const GarbageVolume volume{record.node, record.generation, record.epoch, record.provider};
  co_return outcome_of(co_await delete_volume(*job.core, record.sandbox_id, volume, call));
}

Task<Outcome> restore_snapshot(Job& job, const CallContext& call) {
  Core& core = *job.core;
  const InstanceRef made = made_instance(job);
  COVE_CO_TRY(Provider* const provider, core.provider_of(job.at.record));
  COVE_CO_TRY(auto volume, co_await provider->open_volume(made.volume, VolumeAccess::kWrite, call));
  const SnapshotRef snapshot = *job.at.record.snapshot;
  COVE_CO_TRY_VOID(co_await core.parts.snapshotter.restore(snapshot, *volume, call));
  COVE_CO_TRY_VOID(co_await volume->sync(call));
  co_return StepOutcome{};
}

/// Every volume of a sandbox that is being destroyed, as far as this node reaches; its tombstone
/// names the others.
std::vector<GarbageVolume> doomed_volumes(const Job& job) {
  std::vector<GarbageVolume> volumes = grave_of(job.at.record, StoreTime{}).volumes;
  std::erase_if(volumes,
                [&](const GarbageVolume& volume) { return !job.core->reaches(place_of(volume)); });
  return volumes;
}

Task<Outcome> end_instances(Job& job, const CallContext& call) {
  for (const GarbageVolume& volume : doomed_volumes(job)) {
    COVE_CO_TRY(Provider* const provider, job.core->provider_of(volume.provider));
    const InstanceRef instance =
        job.core->instance_of(job.at.record.sandbox_id, volume.generation, volume.epoch);
    COVE_CO_TRY_VOID(co_await provider->stop_instance(instance, call));
  }
  co_return StepOutcome{};
}

Task<Outcome> delete_every_volume(Job& job, const CallContext& call) {
  for (const GarbageVolume& volume : doomed_volumes(job)) {
    COVE_CO_TRY_VOID(co_await delete_volume(*job.core, job.at.record.sandbox_id, volume, call));
  }
  co_return StepOutcome{};
}

Task<Outcome> delete_archive(Job& job, const CallContext& call) {
  const SnapshotOwner owner = job.core->snapshot_owner(job.at.record);
  const OperationId every_attempt;
  co_return outcome_of(co_await job.core->parts.snapshotter.remove_all(owner, every_attempt, call));
}

struct Step {
  OperationKind kind;
  Phase phase;  // what is done before
  Task<Outcome> (*run)(Job&, const CallContext&);
};

constexpr Step kSteps[] = {
    {OperationKind::kProvision, Phase::kClaimed, create_volume},
    {OperationKind::kProvision, Phase::kVolumeCreated, start_instance},
    {OperationKind::kResume, Phase::kClaimed, start_instance},
    {OperationKind::kStop, Phase::kClaimed, drain},
    {OperationKind::kStop, Phase::kDrained, stop_drained},
    {OperationKind::kArchive, Phase::kClaimed, upload_archive},
    {OperationKind::kArchive, Phase::kArchiveUploaded, stop_instance},
    {OperationKind::kArchive, Phase::kProviderDeleted, delete_current_volume},
    {OperationKind::kRestore, Phase::kClaimed, create_volume},
    {OperationKind::kRestore, Phase::kVolumeCreated, restore_snapshot},
    {OperationKind::kRestore, Phase::kSnapshotRestored, start_instance},
    {OperationKind::kRelocate, Phase::kClaimed, upload_archive},
    {OperationKind::kRelocate, Phase::kArchiveUploaded, stop_instance},
    {OperationKind::kRelocate, Phase::kProviderDeleted, delete_current_volume},
    {OperationKind::kRelocate, Phase::kVolumeDeleted, create_volume},
    {OperationKind::kRelocate, Phase::kVolumeCreated, restore_snapshot},
    {OperationKind::kRelocate, Phase::kSnapshotRestored, start_instance},
    {OperationKind::kDestroy, Phase::kClaimed, end_instances},
    {OperationKind::kDestroy, Phase::kProviderDeleted, delete_every_volume},
    {OperationKind::kDestroy, Phase::kVolumeDeleted, delete_archive},
};

const Step* find_step(OperationKind kind, Phase phase) {
  for (const Step& step : kSteps) {
    if (step.kind == kind && step.phase == phase) return &step;
  }
  return nullptr;
}

constexpr bool has_step(OperationKind kind, Phase phase) {
  for (const Step& step : kSteps) {
    if (step.kind == kind && step.phase == phase) return true;
  }
  return false;
}

constexpr bool every_row_has_its_step() {
  for (const Row& row : kTransitions) {
    if (row.next.has_value() != has_step(row.kind, row.phase)) return false;
  }
  return true;
}
static_assert(every_row_has_its_step(), "a phase of the table has no step, or a last one has");

}  // namespace

Task<Result<StepOutcome>> run_step(Job& job, const CallContext& call) {
  const Step* step = find_step(job.operation().kind, job.operation().phase);
  // Each attempt that starts something reads its source, after the claim is in the record. One that
  // goes on from a later phase has given its place back where it failed before.
  const Row row = *row_of(job.at.record);
  const bool begins = row.phase == Phase::kClaimed || row.kind == OperationKind::kRelocate;
  if (row.to == SandboxState::kRunning && begins) {
    const WorkspaceKey key = job.at.record.key;
    const auto alive = co_await check_source(*job.core, key, call);
    job.refused = !alive && alive.error().code() == ErrorCode::kFailedPrecondition;
    if (!alive) co_return alive.error();
    const auto placed = co_await job.core->quotas.take(job.at.record, call);
    job.refused = !placed && placed.error().code() == ErrorCode::kQuotaExceeded;
    if (!placed) co_return placed.error();
  }
  co_return co_await step->run(job, call);
}

Task<void> clean_up(Core& core, Record failed, const CallContext& call) {
  if (!failed.operation) co_return;
  if (failed.operation->kind == OperationKind::kResume) {
    const InstanceRef started = core.instance_of(failed);
    const auto provider = core.provider_of(failed);
    if (!provider) co_return core.log(LogLevel::kWarning, provider.error().describe());
    const auto stopped = co_await (*provider)->stop_instance(started, call);
    if (!stopped) core.log(LogLevel::kWarning, stopped.error().describe());
  }
  const auto collected = co_await collect_garbage(core, failed.sandbox_id, call);
  if (!collected) core.log(LogLevel::kWarning, collected.error().describe());
}

}  // namespace cove::lifecycle

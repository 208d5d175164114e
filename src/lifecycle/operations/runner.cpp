#include "lifecycle/operations/runner.hpp"

#include <algorithm>
#include <utility>

#include "base/async/spawn.hpp"
#include "base/async/timing.hpp"
#include "base/system/system_clock.hpp"
#include "lifecycle/operations/heartbeat.hpp"
#include "lifecycle/operations/steps.hpp"

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

// Longer than any step should take; a provider that hangs is given up then.
constexpr auto kStepLimit = 2h;

using JobPtr = std::shared_ptr<Job>;
using Transform = std::function<Result<Record>(const Record& record, StoreTime now)>;

/// Whether the job still has its operation; brings `at` up to date.
Task<Result<bool>> is_still_mine(Job& job, const CallContext& call) {
  COVE_CO_TRY(auto found, co_await job.core->records.load_again(job.at.record.sandbox_id, call));
  if (!is_held(found, job.id)) co_return false;
  job.at = *std::move(found);
  co_return true;
}

/// Swaps a change of the held operation in. False: it is another's now.
Task<Result<bool>> commit(Job& job, Transform transform, Durability durability) {
  Core& core = *job.core;
  const CallContext call = core.own_call();
  for (;;) {
    const Instant sent = core.parts.clock.now();
    auto now = co_await core.records.now(call);
    if (!now && now.error().code() == ErrorCode::kUnavailable) {
      const Instant when = core.parts.clock.now() + 20ms;
      COVE_CO_TRY_VOID(co_await base::sleep_until(core.parts.scheduler, when, call));
      continue;
    }
    if (!now) co_return now.error();
    COVE_CO_TRY(auto next, transform(job.at.record, *now));
    auto swapped = co_await core.records.swap(job.at.version, next, durability, call);
    if (swapped) {
      job.at = StoredRecord{std::move(next), *swapped};
      job.beat_at = sent;
      co_return true;
    }
    if (swapped.error().code() != ErrorCode::kConflict && !is_unsure(swapped.error())) {
      co_return swapped.error();
    }
    COVE_CO_TRY(auto found, co_await core.records.load_again(job.at.record.sandbox_id, call));
    if (found && to_json(found->record) == to_json(next)) {
      job.at = *std::move(found);
      co_return true;
    }
    if (!is_held(found, job.id)) co_return false;
    job.at = *std::move(found);
  }
}

/// Brings the record to a phase that this job reached. A store that crashed may have forgotten
/// relaxed swaps; what they said is still so, and a step may not be possible twice.
Task<Result<bool>> catch_up(Job& job, Phase reached) {
  const Transform next_phase = [&](const Record& record, StoreTime now) {
    return advance(record, job.id, now, std::nullopt);
  };
  while (job.operation().phase != reached) {
    COVE_CO_TRY(const bool mine, co_await commit(job, next_phase, Durability::kRelaxed));
    if (!mine) co_return false;
  }
  co_return true;
}

/// The last swap of a destroy: the tombstone first, then the record goes.
Task<Result<bool>> commit_removal(Job& job) {
  Core& core = *job.core;
  const CallContext call = core.own_call();
  const SandboxId sandbox = job.at.record.sandbox_id;
  for (;;) {
    COVE_CO_TRY(const StoreTime now, co_await core.records.now(call));
    const Grave grave = grave_of(job.at.record, now);
    COVE_CO_TRY_VOID(co_await core.records.bury(sandbox, grave, call));
    auto removed = co_await core.records.remove(sandbox, job.at.version, call);
    if (removed) co_return true;
    if (removed.error().code() != ErrorCode::kConflict && !is_unsure(removed.error())) {
      co_return removed.error();
    }
    COVE_CO_TRY(auto found, co_await core.records.load_again(sandbox, call));
    if (!found) co_return true;
    if (!is_held(found, job.id)) co_return false;
    job.at = *std::move(found);
  }
}

/// A phase that a take-over begins again from the start may be lost with the machine: the claim
/// named volume and epoch, and nobody was told of more. What completes, and what a take-over goes
/// on from, is durable.
Durability durability_of_step(const Row& row, const Row& reached) {
  const bool completes = !reached.next;
  return completes || row.take_over == TakeOver::kContinue ? Durability::kDurable
                                                           : Durability::kRelaxed;
}

/// The swap after a step: the next phase, and with the last one completion.
Task<Result<bool>> commit_step(Job& job, const Row& row, StepOutcome outcome) {
  const std::optional<Row> reached =
      row.next ? find_row(row.kind, *row.next) : std::optional<Row>(row);
  if (!reached->next && row.kind == OperationKind::kDestroy) {
    co_return co_await commit_removal(job);
  }
  bool forgotten = false;
  const Transform transform = [&](const Record& record, StoreTime now) -> Result<Record> {
    forgotten = record.operation->phase != row.phase;
    if (forgotten) return Error(ErrorCode::kConflict, "the store forgot a phase");
    Record next = record;
    if (row.next) {
      COVE_TRY(next, advance(std::move(next), job.id, now, outcome.snapshot));
    }
    if (reached->next) return next;
    COVE_TRY(next, complete(std::move(next), job.id, now));
    if (!job.takes_lease || next.state != SandboxState::kRunning) return next;
    return renew_lease(std::move(next), job.core->parts.owners.self(), now,
                       job.core->settings.activity_lease);
  };
  for (;;) {
    COVE_CO_TRY(const bool mine, co_await catch_up(job, row.phase));
    if (!mine) co_return false;
    auto committed = co_await commit(job, transform, durability_of_step(row, *reached));
    if (committed || !forgotten) co_return committed;
  }
}

Failure failure_of(const Job& job, const Error& error) {
  Failure failure;
  failure.error = error.describe();
  failure.integrity = error.code() == ErrorCode::kIntegrity;
  failure.attention_after = job.core->settings.attention_after;
  failure.counts = !job.refused && !job.called_off && error.code() != ErrorCode::kCancelled;
  return failure;
}

/// Notes an attempt's failure in the record, and removes what it left. Where even that is not
/// possible, the heartbeat grows old and others take over.
Task<void> give_up(Job& job, Error error) {
  const Record before = job.at.record;
  const Failure failure = failure_of(job, error);
  const Transform transform = [&](const Record& record, StoreTime now) -> Result<Record> {
    COVE_TRY(Record next, fail(record, job.id, now, failure));
    // A command that forbids the stop is activity.
    if (job.refused) next.last_active_at = now;
    return next;
  };
  const auto noted = co_await commit(job, transform, Durability::kDurable);
  if (!noted || !*noted) {
    job.lost = true;
    co_return;
  }
  job.tell(before.operation->kind, before.operation->phase, !job.at.record.operation,
           failure.error);
  if (!occupies(job.at.record)) co_await job.core->give_places_back(job.at.record);
  const CallContext call = job.core->own_call();
  co_await clean_up(*job.core, before, call);
}

/// True where what goes on can be given up for somebody that urgent.
bool gives_way(const Job& job, Urgency urgency) {
  if (!job.at.record.operation) return false;
  const OperationKind kind = job.operation().kind;
  if (urgency == Urgency::kDestroy) return kind != OperationKind::kDestroy;
  const auto row = row_of(job.at.record);
  if (row && is_archiving(*row)) return true;
  const bool drains = job.core->parts.clock.now() < job.drain_until;
  return kind == OperationKind::kStop && row && row->abandoned_to.has_value() && !drains;
}

/// True for an archive past its upload: the restore that somebody waits for takes its place, and
/// waits for no deletion.
bool only_deletes(const Job& job) {
  const auto row = row_of(job.at.record);
  return row && is_archiving(*row) && row->phase != Phase::kClaimed;
}

void give_way(Job& job, Urgency urgency) {
  job.called_off = true;
  job.stop.request_stop();
  if (urgency == Urgency::kUser && only_deletes(job)) job.hold.reset();
}

/// True for an archive that need not go on: the restore that somebody waits for takes its place.
bool leaves_the_rest(const Job& job) {
  const auto row = row_of(job.at.record);
  if (!row || !is_archiving(*row)) return false;
  return !job.hold || job.hold->is_wanted(Urgency::kUser);
}

void watch_gate(const JobPtr& job) {
  job->hold->on_wanted([weak = std::weak_ptr<Job>(job)](Urgency urgency) {
    const auto watched = weak.lock();
    if (watched && gives_way(*watched, urgency)) give_way(*watched, urgency);
  });
  for (const Urgency urgency : {Urgency::kUser, Urgency::kDestroy}) {
    const bool wanted = job->hold && job->hold->is_wanted(urgency);
    if (wanted && gives_way(*job, urgency)) give_way(*job, urgency);
  }
}

Error yielded_error(const Job& job) {
  return Error(ErrorCode::kCancelled,
               "sandbox '" + job.at.record.sandbox_id.str() + "' is wanted for something else");
}

/// Says that the job lives, where a heartbeat has not arrived lately.
Task<Result<bool>> beat_if_due(Job& job, const CallContext& call) {
  COVE_CO_TRY(const bool mine, co_await is_still_mine(job, call));
  const auto age = job.core->parts.clock.now() - job.beat_at;
  if (!mine || age < job.core->settings.owner_dead_after / 3) co_return mine;
  const Transform transform = [&](const Record& record, StoreTime now) {
    return beat(record, job.id, now);
  };
  co_return co_await commit(job, transform, Durability::kDurable);
}

/// Whether the step may begin: the operation is this job's, a heartbeat arrived lately, and then
/// (each of these reads may be the first after the store forgot) it is at the phase that the job
/// reached.
Task<Result<bool>> may_go_on(Job& job) {
  const CallContext call = job.core->own_call();
  COVE_CO_TRY(const bool mine, co_await beat_if_due(job, call));
  if (!mine || !job.reached) co_return mine;
  co_return co_await catch_up(job, *job.reached);
}

/// One step and the swap that makes it true. Nothing: go on.
Task<Result<std::optional<Driven>>> drive_once(JobPtr job) {
  COVE_CO_TRY(const bool mine, co_await may_go_on(*job));
  if (!mine) co_return std::optional<Driven>(Driven::kLost);
  const Row row = *row_of(job->at.record);
  StepOutcome outcome;
  if (row.next) {
    const CallContext call{job->core->parts.clock.now() + kStepLimit, job->stop.get_token()};
    if (job->stop.stop_requested()) co_return yielded_error(*job);
    const auto beats = start_heartbeats(job);
    auto done = co_await run_step(*job, call);
    co_await stop_heartbeats(beats);
    if (job->lost) co_return std::optional<Driven>(Driven::kLost);
    if (!done) co_return done.error();
    outcome = *std::move(done);
  }
  COVE_CO_TRY(const bool committed, co_await commit_step(*job, row, outcome));
  if (!committed) co_return std::optional<Driven>(Driven::kLost);
  if (row.next) job->reached = row.next;
  const bool ended = !job->at.record.operation || row.next == Phase::kArchiveDeleted || !row.next;
  job->tell(row.kind, row.next.value_or(row.phase), ended);
  const bool frees = row.kind == OperationKind::kStop || row.kind == OperationKind::kDestroy;
  if (ended && frees) co_await job->core->give_places_back(job->at.record);
  if (ended) co_return std::optional<Driven>(Driven::kCompleted);
  if (leaves_the_rest(*job)) co_return std::optional<Driven>(Driven::kYielded);
  co_return std::optional<Driven>();
}

Task<Result<Driven>> drive(JobPtr job) {
  const std::stop_callback on_close(job->core->closing.get_token(),
                                    [job] { job->stop.request_stop(); });
  watch_gate(job);
  for (;;) {
    auto driven = co_await drive_once(job);
    if (driven && !*driven) continue;
    if (job->hold) job->hold->on_wanted(nullptr);
    const bool left = !job->hold;  // somebody goes on in its place
    if (driven && **driven == Driven::kLost && left) co_return Driven::kYielded;
    if (driven) co_return **driven;
    co_await give_up(*job, driven.error());
    if (job->lost && !left) co_return Driven::kLost;
    if (job->called_off) co_return Driven::kYielded;
    co_return driven.error();
  }
}

using Ending = base::Completion<Result<Driven>>;

Task<void> drive_beside(JobPtr job, std::shared_ptr<Ending> ending) {
  auto driven = co_await drive(job);
  job->core->activity.end_drain(job->at.record.sandbox_id);
  job.reset();  // before the caller goes on: it may want the gate
  ending->complete(std::move(driven));
}

}  // namespace

Task<Result<Driven>> perform(std::shared_ptr<Job> job, const CallContext& call) {
  Core& core = *job->core;
  const auto ending = Ending::make(core.parts.scheduler);
  core.run_beside(drive_beside(job, ending));
  co_return co_await base::wait_bounded<Driven>(ending, core.parts.scheduler, call);
}

}  // namespace cove::lifecycle

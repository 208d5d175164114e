#include "lifecycle/operations/claim.hpp"

#include <utility>

#include "base/async/spawn.hpp"
#include "lifecycle/operations/heartbeat.hpp"
#include "lifecycle/operations/runner.hpp"

namespace cove::lifecycle {
namespace {

using JobPtr = std::shared_ptr<Job>;

/// What is written to take an operation, and for whom.
struct Claim {
  std::shared_ptr<Core> core;
  std::shared_ptr<Gates::Hold> hold;
  Record record;  ///< with the operation
  Intent intent;
  Instant sent;  ///< before the store was asked for the time
};

JobPtr make_job(Claim claim, Version version) {
  const Intent& intent = claim.intent;
  auto job = std::make_shared<Job>();
  job->core = std::move(claim.core);
  job->hold = std::move(claim.hold);
  job->id = claim.record.operation->id;
  job->at = StoredRecord{std::move(claim.record), version};
  job->drain = intent.drain;
  job->takes_lease = intent.takes_lease;
  job->beat_at = claim.sent;
  job->reason = intent.reason;
  job->began = job->core->parts.clock.now();
  job->drain_until = job->began + intent.drain_for;
  if (intent.drain_for.count() > 0) {
    job->core->activity.note_drain(job->at.record.sandbox_id, job->drain_until);
  }
  job->tell(job->operation().kind, job->operation().phase, false);
  return job;
}

/// The job of what a write put into the store; null where somebody else's was there first. Where
/// the write's outcome is not known, the record says it.
Task<Result<JobPtr>> job_of(Claim claim, Result<Version> written) {
  const std::shared_ptr<Core> core = claim.core;
  if (written) co_return make_job(std::move(claim), *written);
  const ErrorCode code = written.error().code();
  if (code == ErrorCode::kConflict || code == ErrorCode::kAlreadyExists) co_return JobPtr();
  if (!is_unsure(written.error())) co_return written.error();
  const CallContext call = core->own_call();
  COVE_CO_TRY(auto found, co_await core->records.load_again(claim.record.sandbox_id, call));
  if (!is_held(found, claim.record.operation->id)) co_return JobPtr();
  claim.record = std::move(found->record);
  co_return make_job(std::move(claim), found->version);
}

Task<Result<JobPtr>> swap_in(Claim claim, Version expected) {
  const std::shared_ptr<Core> core = claim.core;
  const CallContext call = core->own_call();
  const Record next = claim.record;
  auto written = co_await core->records.swap(expected, next, Durability::kDurable, call);
  co_return co_await job_of(std::move(claim), std::move(written));
}

Task<Result<JobPtr>> insert(Claim claim) {
  const std::shared_ptr<Core> core = claim.core;
  const CallContext call = core->own_call();
  const Record first = claim.record;
  auto written = co_await core->records.insert(first, call);
  co_return co_await job_of(std::move(claim), std::move(written));
}

using Taken = base::Completion<Result<JobPtr>>;

Task<void> take_beside(Task<Result<JobPtr>> writing, std::shared_ptr<Taken> taken) {
  const Result<JobPtr> job = co_await writing;
  const bool is_awaited = taken->complete(job);
  if (is_awaited || !job || !*job) co_return;
  const CallContext unbounded;
  (void)co_await perform(*job, unbounded);
}

/// Waits for the claim as long as the caller's call allows; the claim goes on.
Task<Result<JobPtr>> wait_for_claim(std::shared_ptr<Core> core, Task<Result<JobPtr>> writing,
                                    const CallContext& call) {
  Scheduler& scheduler = core->parts.scheduler;
  const auto taken = Taken::make(scheduler);
  core->run_beside(take_beside(std::move(writing), taken));
  co_return co_await base::wait_bounded<JobPtr>(taken, scheduler, call);
}

}  // namespace

Task<Result<std::shared_ptr<Job>>> take(std::shared_ptr<Core> core,
                                        std::shared_ptr<Gates::Hold> hold, StoredRecord at,
                                        Taking taking, Intent intent, const CallContext& call) {
  const Instant sent = core->parts.clock.now();
  COVE_CO_TRY(const StoreTime now, co_await core->records.now(call));
  const std::string provider =
      intent.provider.empty() ? place_of_made(at.record).provider : intent.provider;
  COVE_CO_TRY(Attempt attempt, core->attempt(now, provider));
  attempt.leases = intent.leases;
  attempt.drain_for = intent.drain_for;
  const Record record = core->without_dead_leases(at.record);
  COVE_CO_TRY(auto next, taking(record, attempt));
  Claim claim{core, std::move(hold), std::move(next), std::move(intent), sent};
  auto writing = swap_in(std::move(claim), at.version);
  co_return co_await wait_for_claim(core, std::move(writing), call);
}

Task<Result<std::shared_ptr<Job>>> take_first(std::shared_ptr<Core> core,
                                              std::shared_ptr<Gates::Hold> hold, WorkspaceKey key,
                                              SandboxId sandbox, Intent intent,
                                              const CallContext& call) {
  const Instant sent = core->parts.clock.now();
  COVE_CO_TRY(const StoreTime now, co_await core->records.now(call));
  const std::string usual;
  COVE_CO_TRY(const Attempt attempt, core->attempt(now, usual));
  Record record = first_record(sandbox, key, attempt);
  Claim claim{core, std::move(hold), std::move(record), std::move(intent), sent};
  auto writing = insert(std::move(claim));
  co_return co_await wait_for_claim(core, std::move(writing), call);
}

}  // namespace cove::lifecycle

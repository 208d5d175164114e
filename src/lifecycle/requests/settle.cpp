#include "lifecycle/requests/settle.hpp"

#include <utility>

#include "lifecycle/operations/claim.hpp"
#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/operations/runner.hpp"
#include "lifecycle/operations/steps.hpp"
#include "lifecycle/waiting.hpp"

namespace cove::lifecycle {
namespace {

Error not_found(const SandboxId& sandbox) {
  return Error(ErrorCode::kNotFound, "no sandbox '" + sandbox.str() + "'");
}

Result<void> check_options(const StopOptions& options) {
  const auto wait = options.wait;
  if (wait.count() >= 0 && wait <= std::chrono::hours(1)) return {};
  return Error(ErrorCode::kInvalidArgument,
               "a stop waits for what runs at least 0 s and at most 1 h");
}

/// What a call that wants `goal` does about a record.
enum class Move : std::uint8_t {
  kDone,
  kStop,
  kArchive,
  kDestroy,
  kTakeOver,
  kAbandonStart,  ///< a resume or restore whose holder is dead
  kWait,
  kNotFound,
  kRefuse,  ///< it was never made
};

Move move_without_operation(SandboxState state, Goal goal) {
  if (goal == Goal::kGone) return Move::kDestroy;
  switch (state) {
    case SandboxState::kAbsent: return Move::kNotFound;
    case SandboxState::kRunning: return Move::kStop;
    case SandboxState::kStopped: return goal == Goal::kArchived ? Move::kArchive : Move::kDone;
    case SandboxState::kArchived: return Move::kDone;
  }
  return Move::kNotFound;
}

Move move_for(const Core& core, const Record& record, StoreTime now, Goal goal) {
  if (!record.operation) return move_without_operation(record.state, goal);
  const Operation& operation = *record.operation;
  const bool is_free = core.is_free(operation, now);
  if (operation.kind == OperationKind::kDestroy) {
    if (goal != Goal::kGone) return Move::kNotFound;
    return is_free ? Move::kTakeOver : Move::kWait;
  }
  if (goal == Goal::kGone) return Move::kDestroy;
  const auto row = row_of(record);
  if (row && is_archiving(*row) && goal == Goal::kStopped) return Move::kDone;
  switch (operation.kind) {
    case OperationKind::kProvision: return is_free ? Move::kRefuse : Move::kWait;
    case OperationKind::kResume:
    case OperationKind::kRestore: return is_free ? Move::kAbandonStart : Move::kWait;
    case OperationKind::kArchive:
    case OperationKind::kStop:
    case OperationKind::kRelocate:
    case OperationKind::kDestroy:
    case OperationKind::kLost: break;
  }
  return is_free ? Move::kTakeOver : Move::kWait;
}

Taking taking_for(Move move) {
  switch (move) {
    case Move::kStop:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kStop, attempt);
      };
    case Move::kArchive:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kArchive, attempt);
      };
    case Move::kDestroy:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kDestroy, attempt);
      };
    case Move::kDone:
    case Move::kTakeOver:
    case Move::kAbandonStart:
    case Move::kWait:
    case Move::kNotFound:
    case Move::kRefuse: break;
  }
  return [](const Record& record, const Attempt& attempt) { return take_over(record, attempt); };
}

class Settle {
 public:
  Settle(std::shared_ptr<Core> core, SandboxId sandbox, const Request& request)
      : core_(std::move(core)), sandbox_(std::move(sandbox)), goal_(request.goal) {
    const StopOptions& options = request.options;
    const bool cancels = options.drain == StopDrain::kCancel;
    intent_.drain = cancels ? Drain::kCancel : Drain::kRefuse;
    // Where there is time to finish, what runs decides, and not who holds the workspace.
    const bool ends_leases = cancels || options.wait.count() > 0;
    intent_.leases = ends_leases ? LeaseRule::kNone : LeaseRule::kOthers;
    intent_.drain_for = options.wait;
    intent_.reason = request.reason;
  }

  Task<Result<void>> run(const CallContext& call) {
    Patience patience(*core_, call);
    const Urgency urgency = goal_ == Goal::kGone ? Urgency::kDestroy : Urgency::kCanWait;
    for (;;) {
      COVE_CO_TRY_VOID(core_->check(call));
      if (!hold_ || hold_->is_wanted(Urgency::kDestroy)) {
        hold_.reset();
        COVE_CO_TRY(hold_, co_await core_->gates.enter(sandbox_.str(), urgency, call));
      }
      COVE_CO_TRY(auto found, co_await core_->records.load(sandbox_, call));
      if (!found) co_return co_await answer_absent(call);
      const Record record = found->record;
      COVE_CO_TRY(const Next next, co_await go_on(*std::move(found), call));
      if (next == Next::kDone) co_return ok();
      if (next == Next::kWait) COVE_CO_TRY_VOID(co_await patience.wait(record, call));
    }
  }

 private:
  enum class Next : std::uint8_t { kDone, kAgain, kWait };

  /// Destroying what a tombstone remembers is done already.
  Task<Result<void>> answer_absent(const CallContext& call) {
    if (destroying_) co_return ok();
    if (goal_ != Goal::kGone) co_return not_found(sandbox_);
    COVE_CO_TRY(const auto tombstone, co_await core_->records.tombstone(sandbox_, call));
    if (!tombstone) co_return not_found(sandbox_);
    co_return ok();
  }

  Task<Result<Next>> go_on(StoredRecord at, const CallContext& call) {
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call));
    const Move move = move_for(*core_, at.record, now, goal_);
    if (move == Move::kDone) co_return Next::kDone;
    if (move == Move::kNotFound) co_return not_found(sandbox_);
    if (move == Move::kRefuse) {
      co_return Error(
          ErrorCode::kFailedPrecondition,
          "sandbox '" + sandbox_.str() +
              "' was never made; acquire it again, or destroy it: " + describe(at.record));
    }
    COVE_CO_TRY_VOID(core_->check_node(at.record));
    if (move == Move::kWait) co_return Next::kWait;
    if (move == Move::kAbandonStart) {
      COVE_CO_TRY_VOID(co_await abandon_start(*core_, std::move(at), intent_.reason, call));
      co_return Next::kAgain;
    }
    co_return co_await perform_move(move, std::move(at), call);
  }

  Task<Result<Next>> perform_move(Move move, StoredRecord at, const CallContext& call) {
    const Taking taking = taking_for(move);
    const auto row = row_of(at.record);
    const bool archives = move == Move::kArchive || (row && is_archiving(*row));
    auto hold = hold_;
    // An archive alone has the turn: it gives it to whoever need not wait for its deletions.
    if (archives) hold_.reset();
    COVE_CO_TRY(auto job,
                co_await take(core_, std::move(hold), std::move(at), taking, intent_, call));
    if (!job) co_return Next::kAgain;
    const OperationKind kind = job->operation().kind;
    if (kind == OperationKind::kDestroy) destroying_ = true;
    COVE_CO_TRY(const Driven driven, co_await perform(job, call));
    const bool has_garbage = !job->at.record.garbage.empty();
    job.reset();
    if (has_garbage && kind == OperationKind::kArchive) collect_garbage_soon(core_, sandbox_);
    if (driven == Driven::kYielded) {
      co_return Error(ErrorCode::kFailedPrecondition,
                      "sandbox '" + sandbox_.str() + "' was asked for meanwhile: it is in use");
    }
    const bool was_goal = kind == OperationKind::kDestroy ||
                          (goal_ == Goal::kStopped && kind == OperationKind::kStop) ||
                          (goal_ == Goal::kArchived && kind == OperationKind::kArchive);
    co_return driven == Driven::kCompleted&& was_goal ? Next::kDone : Next::kAgain;
  }

  std::shared_ptr<Core> core_;
  SandboxId sandbox_;
  Goal goal_;
  Intent intent_;
  std::shared_ptr<Gates::Hold> hold_;
  bool destroying_ = false;
};

/// Notes that the running record's volume is not what it must be. Nothing else is done.
Task<Result<bool>> note_missing_volume(Core& core, InstanceRef instance, const CallContext& call) {
  Failure failure;
  failure.error = "volume " + instance.volume.generation.str() + " is missing, or is another's";
  failure.integrity = true;
  const Change change = [&](const Record& record, StoreTime now) -> Result<std::optional<Record>> {
    const bool current = core.instance_of(record) == instance;
    if (!current || record.needs_attention == failure.error) return std::optional<Record>();
    return std::optional<Record>(note_failure(record, now, failure));
  };
  const SandboxId sandbox = instance.volume.sandbox;
  COVE_CO_TRY(const auto noted,
              co_await core.records.update(sandbox, Durability::kDurable, change, call));
  if (!noted) co_return not_found(sandbox);
  co_return Error(ErrorCode::kIntegrity, "sandbox '" + sandbox.str() + "': " + failure.error);
}

/// The one swap of *lost* has neither claim nor phases: its event says what is true after it.
void tell_lost(const Core& core, const Record& stopped, Reason reason, Duration spent) {
  LifecycleEvent event;
  event.sandbox = stopped.sandbox_id;
  event.state = stopped.state;
  event.kind = OperationKind::kLost;
  event.phase = Phase::kInstanceStopped;
  event.completed = true;
  event.reason = reason;
  event.duration = std::chrono::duration_cast<std::chrono::milliseconds>(spent);
  core.tell(std::move(event));
}

}  // namespace

Task<Result<void>> settle(std::shared_ptr<Core> core, SandboxId sandbox, Request request,
                          const CallContext& call) {
  COVE_CO_TRY_VOID(check_options(request.options));
  Settle settling(core, std::move(sandbox), request);
  co_return co_await settling.run(call);
}

Task<Result<void>> abandon_start(Core& core, StoredRecord at, Reason reason,
                                 const CallContext& call) {
  COVE_CO_TRY(const Record next, abandon(at.record));
  const auto swapped = co_await core.records.swap(at.version, next, Durability::kDurable, call);
  if (!swapped) {
    // Changed meanwhile, or perhaps done: whoever asked reads again.
    const bool again = swapped.error().code() == ErrorCode::kConflict || is_unsure(swapped.error());
    if (again) co_return ok();
    co_return swapped.error();
  }
  const Operation& given_up = *at.record.operation;
  core.tell(LifecycleEvent{next.sandbox_id, next.state, given_up.kind, given_up.phase, true,
                           "abandoned: its holder is gone", reason});
  co_await core.give_places_back(next);
  co_await clean_up(core, at.record, call);
  co_return ok();
}

Task<Result<bool>> report_unreachable(std::shared_ptr<Core> core, InstanceRef instance,
                                      Reason reason, const CallContext& call) {
  const Instant began = core->parts.clock.now();
  const SandboxId sandbox = instance.volume.sandbox;
  COVE_CO_TRY(const auto found, co_await core->records.load(sandbox, call));
  if (!found) co_return not_found(sandbox);
  const auto is_current = [&](const Record& record) {
    return record.state == SandboxState::kRunning && !record.operation &&
           core->instance_of(record) == instance;
  };
  if (!is_current(found->record)) co_return false;
  COVE_CO_TRY_VOID(core->check_node(found->record));
  COVE_CO_TRY(Provider* const provider, core->provider_of(found->record));
  COVE_CO_TRY(const InstanceStatus status, co_await provider->inspect(instance, call));
  if (status.state != InstanceState::kGone) co_return false;
  if (!status.volume_present) co_return co_await note_missing_volume(*core, instance, call);
  // A start of this epoch that comes late, sent again on its way, finds that it was stopped.
  COVE_CO_TRY_VOID(co_await provider->stop_instance(instance, call));
  bool became_stopped = false;
  std::string written;
  const Change change = [&](const Record& record, StoreTime) -> Result<std::optional<Record>> {
    // Read again after an answer that was lost, it is what this call made of it.
    became_stopped = is_current(record) || (!written.empty() && to_json(record) == written);
    if (!is_current(record)) return std::optional<Record>();
    COVE_TRY(auto next, lost(record, instance.epoch));
    written = to_json(next);
    return std::optional<Record>(std::move(next));
  };
  COVE_CO_TRY(const auto updated,
              co_await core->records.update(sandbox, Durability::kDurable, change, call));
  core->activity.forget(instance);
  if (!became_stopped || !updated) co_return false;
  tell_lost(*core, updated->record, reason, core->parts.clock.now() - began);
  co_await core->give_places_back(updated->record);
  co_return true;
}

}  // namespace cove::lifecycle

#include "lifecycle/requests/acquire.hpp"

#include <algorithm>
#include <utility>

#include "lifecycle/operations/claim.hpp"
#include "lifecycle/operations/command_hold.hpp"
#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/operations/runner.hpp"
#include "lifecycle/waiting.hpp"

namespace cove::lifecycle {
namespace {

constexpr std::size_t kMaxSandboxName = 128;

/// A sandbox id is part of paths, object keys and host names of other systems.
Result<void> check_sandbox_name(const SandboxId& sandbox) {
  const std::string& name = sandbox.str();
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  const bool good = !name.empty() && name.size() <= kMaxSandboxName && name.front() != '.' &&
                    name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain);
  if (good) return {};
  return Error(ErrorCode::kInvalidArgument,
               "a sandbox id must be 1 to 128 of [A-Za-z0-9._-] and begin with none of . and -");
}

Result<void> check_key(const Record& record, const WorkspaceKey& key) {
  if (record.key == key) return {};
  return Error(ErrorCode::kConflict,
               "sandbox '" + record.sandbox_id.str() + "' belongs to another workspace key");
}

AcquiredInstance use(Core& core, const Record& record, AcquireWork work) {
  const AcquiredInstance acquired{core.instance_of(record), work, record.provider};
  core.activity.note(acquired.instance, core.parts.clock.now());
  core.keep_renewing();
  return acquired;
}

bool has_fresh_lease(const Core& core, const Record& record, StoreTime now) {
  const auto margin = core.settings.activity_lease / 3;
  return std::any_of(
      record.activity.begin(), record.activity.end(), [&](const ActivityLease& lease) {
        return lease.owner == core.parts.owners.self() && lease.expires_at > now + margin;
      });
}

/// True where a person should have looked and need not any more: it runs, on its volume. Only the
/// provider knows, and is asked about no other record.
Task<Result<bool>> is_well_again(Core& core, const Record& record, const CallContext& call) {
  if (record.needs_attention.empty()) co_return false;
  COVE_CO_TRY(Provider* const provider, core.provider_of(record));
  const InstanceRef instance = core.instance_of(record);
  // Where it cannot be asked the next acquire asks again.
  const Result<InstanceStatus> status = co_await provider->inspect(instance, call);
  co_return status.has_value() && status->state == InstanceState::kRunning &&
      status->volume_present;
}

/// Uses a record that says running: one swap for the lease, or none where it is fresh. Nothing:
/// somebody changed the record meanwhile.
Task<Result<std::optional<AcquiredInstance>>> use_running(Core& core, StoredRecord at,
                                                          const CallContext& call) {
  COVE_CO_TRY_VOID(core.check_node(at.record));
  COVE_CO_TRY(const StoreTime now, co_await core.records.now(call));
  COVE_CO_TRY(const bool is_well, co_await is_well_again(core, at.record, call));
  if (is_well || !has_fresh_lease(core, at.record, now)) {
    Record next =
        renew_lease(at.record, core.parts.owners.self(), now, core.settings.activity_lease);
    // The failures stay counted: what goes on failing is told again at once.
    if (is_well) next.needs_attention.clear();
    const auto swapped = co_await core.records.swap(at.version, next, Durability::kRelaxed, call);
    const bool again = !swapped && (swapped.error().code() == ErrorCode::kConflict ||
                                    swapped.error().code() == ErrorCode::kUnavailable);
    if (again) co_return std::optional<AcquiredInstance>();
    if (!swapped) co_return swapped.error();
  }
  co_return std::optional<AcquiredInstance>(use(core, at.record, AcquireWork::kNone));
}

bool is_ready(const Record& record) {
  return record.state == SandboxState::kRunning && !record.operation;
}

struct Warm {
  std::optional<AcquiredInstance> acquired;
  bool is_absent = false;  ///< there was no record at all
};

/// The warm path, without the gate.
Task<Result<Warm>> try_warm(Core& core, WorkspaceKey key, SandboxId sandbox,
                            const CallContext& call) {
  Warm warm;
  for (int round = 0; round < 3 && !warm.acquired; ++round) {
    COVE_CO_TRY(auto found, co_await core.records.load(sandbox, call));
    warm.is_absent = !found;
    if (!found) break;
    COVE_CO_TRY_VOID(check_key(found->record, key));
    if (!is_ready(found->record)) break;
    COVE_CO_TRY(warm.acquired, co_await use_running(core, *std::move(found), call));
  }
  co_return warm;
}

/// What an acquire does about a record that does not run.
enum class Move : std::uint8_t {
  kProvision,
  kResume,
  kRestore,
  kTakeOver,        ///< nobody works on it any more, or it is a stop that must end
  kAbandonStop,     ///< nothing has been stopped yet: running again
  kAbandonArchive,  ///< nothing was uploaded yet: resume at once
  kWait,
};

/// REQUIRES: not running without an operation.
Move move_for(const Core& core, const Record& record, StoreTime now) {
  if (!record.operation) {
    if (record.state == SandboxState::kStopped) return Move::kResume;
    return record.state == SandboxState::kArchived ? Move::kRestore : Move::kProvision;
  }
  const Row row = *row_of(record);
  const bool abandonable = row.abandoned_to.has_value();
  if (is_archiving(row)) return abandonable ? Move::kAbandonArchive : Move::kRestore;
  switch (record.operation->kind) {
    case OperationKind::kStop: {
      const bool drains = record.operation->drain_until > now;
      if (abandonable && drains && !core.is_free(*record.operation, now)) return Move::kWait;
      return abandonable ? Move::kAbandonStop : Move::kTakeOver;
    }
    case OperationKind::kArchive:
    case OperationKind::kProvision:
    case OperationKind::kResume:
    case OperationKind::kRestore:
    case OperationKind::kRelocate:
    case OperationKind::kDestroy:
    case OperationKind::kLost: break;
  }
  return core.is_free(*record.operation, now) ? Move::kTakeOver : Move::kWait;
}

Taking taking_for(Move move) {
  switch (move) {
    case Move::kProvision:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kProvision, attempt);
      };
    case Move::kResume:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kResume, attempt);
      };
    case Move::kRestore:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kRestore, attempt);
      };
    case Move::kAbandonArchive:
      return [](const Record& record, const Attempt& attempt) -> Result<Record> {
        COVE_TRY(auto stopped, abandon(record));
        return claim(std::move(stopped), OperationKind::kResume, attempt);
      };
    case Move::kTakeOver:
    case Move::kAbandonStop:
    case Move::kWait: break;
  }
  return [](const Record& record, const Attempt& attempt) { return take_over(record, attempt); };
}

/// True where the move needs nothing of the record's node: the volume there becomes garbage.
bool leaves_node(const Record& record, Move move) {
  return move == Move::kRestore && record.operation.has_value();
}

AcquireWork work_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::kProvision: return AcquireWork::kProvisioned;
    case OperationKind::kResume: return AcquireWork::kResumed;
    case OperationKind::kRestore:
    case OperationKind::kRelocate: return AcquireWork::kRestored;
    case OperationKind::kStop:
    case OperationKind::kArchive:
    case OperationKind::kDestroy:
    case OperationKind::kLost: break;
  }
  return AcquireWork::kNone;
}

class Acquire {
 public:
  /// `is_absent`: there was no record a moment ago. Nobody relies on that: the insert finds out.
  Acquire(std::shared_ptr<Core> core, WorkspaceKey key, SandboxId sandbox, bool is_absent)
      : core_(std::move(core)),
        key_(std::move(key)),
        sandbox_(std::move(sandbox)),
        is_absent_(is_absent) {}

  Task<Result<AcquiredInstance>> run(const CallContext& call) {
    Patience patience(*core_, call);
    for (;;) {
      COVE_CO_TRY_VOID(core_->check(call));
      if (!hold_ || hold_->is_wanted(Urgency::kDestroy)) {
        hold_.reset();
        COVE_CO_TRY(hold_, co_await core_->gates.enter(sandbox_.str(), Urgency::kUser, call));
      }
      std::optional<StoredRecord> found;
      if (!std::exchange(is_absent_, false)) {
        COVE_CO_TRY(found, co_await core_->records.load(sandbox_, call));
      }
      if (!found) {
        COVE_CO_TRY(auto made, co_await provision(call));
        if (made) co_return *made;
        continue;
      }
      COVE_CO_TRY_VOID(check_key(found->record, key_));
      const Record record = found->record;
      COVE_CO_TRY(auto used, co_await go_on(*std::move(found), call));
      if (used) co_return *used;
      if (waits_) COVE_CO_TRY_VOID(co_await patience.wait(record, call));
    }
  }

 private:
  using Acquired = std::optional<AcquiredInstance>;

  Task<Result<Acquired>> provision(const CallContext& call) {
    Intent intent;
    intent.takes_lease = true;
    intent.reason = Reason::kAcquire;
    COVE_CO_TRY(auto job, co_await take_first(core_, hold_, key_, sandbox_, intent, call));
    if (!job) co_return Acquired();
    co_return co_await drive(std::move(job), call);
  }

  /// One move; nothing: look again, after a wait where `waits_`.
  Task<Result<Acquired>> go_on(StoredRecord at, const CallContext& call) {
    waits_ = false;
    if (is_ready(at.record)) co_return co_await use_running(*core_, std::move(at), call);
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call));
    const Move move = move_for(*core_, at.record, now);
    if (!leaves_node(at.record, move)) COVE_CO_TRY_VOID(core_->check_node(at.record));
    if (move == Move::kWait) {
      waits_ = true;
      co_return Acquired();
    }
    if (move == Move::kAbandonStop) co_return co_await run_again(std::move(at), call);
    Intent intent;
    intent.takes_lease = true;
    intent.reason = Reason::kAcquire;
    const Taking taking = taking_for(move);
    COVE_CO_TRY(auto job, co_await take(core_, hold_, std::move(at), taking, intent, call));
    if (!job) co_return Acquired();
    co_return co_await drive(std::move(job), call);
  }

  /// Takes a stop back before it stopped anything, and the lease with it.
  Task<Result<Acquired>> run_again(StoredRecord at, const CallContext& call) {
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call));
    COVE_CO_TRY(auto next, abandon(at.record));
    next = renew_lease(std::move(next), core_->parts.owners.self(), now,
                       core_->settings.activity_lease);
    const auto swapped = co_await core_->records.swap(at.version, next, Durability::kDurable, call);
    if (!swapped && swapped.error().code() == ErrorCode::kConflict) co_return Acquired();
    if (!swapped && swapped.error().code() == ErrorCode::kUnavailable) co_return Acquired();
    if (!swapped) co_return swapped.error();
    core_->tell(LifecycleEvent{next.sandbox_id, next.state, OperationKind::kStop, Phase::kClaimed,
                               true, "abandoned: in use again", Reason::kAcquire});
    co_await let_commands_in(*core_, next, at.record.operation->id);
    co_return Acquired(use(*core_, next, AcquireWork::kNone));
  }

  Task<Result<Acquired>> drive(std::shared_ptr<Job> job, const CallContext& call) {
    const OperationKind kind = job->operation().kind;
    COVE_CO_TRY(const Driven driven, co_await perform(job, call));
    if (driven != Driven::kCompleted || job->at.record.state != SandboxState::kRunning) {
      co_return Acquired();
    }
    // What was replaced goes while the user works.
    if (!job->at.record.garbage.empty()) collect_garbage_soon(core_, sandbox_);
    co_return Acquired(use(*core_, job->at.record, work_of(kind)));
  }

  std::shared_ptr<Core> core_;
  WorkspaceKey key_;
  SandboxId sandbox_;
  bool is_absent_;
  std::shared_ptr<Gates::Hold> hold_;
  bool waits_ = false;
};

}  // namespace

Task<Result<AcquiredInstance>> acquire(std::shared_ptr<Core> core, WorkspaceKey key,
                                       SandboxId sandbox, const CallContext& call) {
  COVE_CO_TRY_VOID(core->check(call));
  COVE_CO_TRY_VOID(validate(key));
  if (sandbox.empty()) sandbox = sandbox_id_of(key);
  COVE_CO_TRY_VOID(check_sandbox_name(sandbox));
  COVE_CO_TRY(const Warm warm, co_await try_warm(*core, key, sandbox, call));
  if (warm.acquired) co_return *warm.acquired;
  Acquire acquire(core, std::move(key), std::move(sandbox), warm.is_absent);
  co_return co_await acquire.run(call);
}

}  // namespace cove::lifecycle

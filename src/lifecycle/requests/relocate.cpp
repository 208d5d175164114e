#include "lifecycle/requests/relocate.hpp"

#include <utility>

#include "lifecycle/operations/claim.hpp"
#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/operations/runner.hpp"
#include "lifecycle/requests/settle.hpp"
#include "lifecycle/waiting.hpp"

namespace cove::lifecycle {
namespace {

/// What a call that wants the sandbox at another provider does about a record.
enum class Move : std::uint8_t {
  kDone,
  kStop,
  kRelocate,
  kRestore,   ///< of what is in the archive, or past its upload, at once in the new place
  kTakeOver,  ///< nobody works on it any more: what was begun ends first
  kAbandon,   ///< a resume, restore or relocate to elsewhere, whose holder is dead
  kWait,
  kNotFound,
  kRefuse,  ///< it was never made
};

Move move_without_operation(const Record& record, const std::string& provider) {
  const bool is_there = record.provider == provider;
  switch (record.state) {
    case SandboxState::kAbsent: return Move::kNotFound;
    case SandboxState::kRunning: return is_there ? Move::kDone : Move::kStop;
    case SandboxState::kStopped: return is_there ? Move::kDone : Move::kRelocate;
    case SandboxState::kArchived: return is_there ? Move::kDone : Move::kRestore;
  }
  return Move::kNotFound;
}

/// A relocate whose holder is dead, or that failed: it goes on, or somewhere else.
Move move_for_relocate(const Record& record, const std::string& provider) {
  if (place_of_made(record).provider == provider) return Move::kTakeOver;
  return row_of(record)->abandoned_to ? Move::kAbandon : Move::kRestore;
}

Move move_for(const Core& core, const Record& record, StoreTime now, const std::string& provider) {
  if (!record.operation) return move_without_operation(record, provider);
  const Operation& operation = *record.operation;
  if (operation.kind == OperationKind::kDestroy) return Move::kNotFound;
  if (!core.is_free(operation, now)) return Move::kWait;
  switch (operation.kind) {
    case OperationKind::kProvision: return Move::kRefuse;
    case OperationKind::kResume:
    case OperationKind::kRestore: return Move::kAbandon;
    case OperationKind::kRelocate: return move_for_relocate(record, provider);
    case OperationKind::kStop:
    case OperationKind::kArchive:
    case OperationKind::kDestroy:
    case OperationKind::kLost: break;
  }
  return Move::kTakeOver;
}

Taking taking_for(Move move) {
  switch (move) {
    case Move::kStop:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kStop, attempt);
      };
    case Move::kRelocate:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kRelocate, attempt);
      };
    case Move::kRestore:
      return [](const Record& record, const Attempt& attempt) {
        return claim(record, OperationKind::kRestore, attempt);
      };
    case Move::kDone:
    case Move::kTakeOver:
    case Move::kAbandon:
    case Move::kWait:
    case Move::kNotFound:
    case Move::kRefuse: break;
  }
  return [](const Record& record, const Attempt& attempt) { return take_over(record, attempt); };
}

/// True where the move makes a volume at the provider that was asked for.
bool goes_there(Move move) { return move == Move::kRelocate || move == Move::kRestore; }

Result<void> check_options(const Core& core, const RelocateOptions& options) {
  const auto wait = options.wait;
  if (wait.count() < 0 || wait > std::chrono::hours(1)) {
    return Error(ErrorCode::kInvalidArgument,
                 "a relocate waits for what runs at least 0 s and at most 1 h");
  }
  if (options.provider.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a relocate needs the name of a provider");
  }
  const auto provider = core.provider_of(options.provider);
  if (provider) return {};
  return Error(ErrorCode::kInvalidArgument, provider.error().message());
}

class Relocate {
 public:
  Relocate(std::shared_ptr<Core> core, SandboxId sandbox, RelocateOptions options)
      : core_(std::move(core)), sandbox_(std::move(sandbox)), options_(std::move(options)) {
    const bool cancels = options_.drain == StopDrain::kCancel;
    intent_.drain = cancels ? Drain::kCancel : Drain::kRefuse;
    const bool ends_leases = cancels || options_.wait.count() > 0;
    intent_.leases = ends_leases ? LeaseRule::kNone : LeaseRule::kOthers;
    intent_.drain_for = options_.wait;
  }

  Task<Result<void>> run(const CallContext& call) {
    Patience patience(*core_, call);
    for (;;) {
      COVE_CO_TRY_VOID(core_->check(call));
      if (!hold_ || hold_->is_wanted(Urgency::kDestroy)) {
        hold_.reset();
        COVE_CO_TRY(hold_, co_await core_->gates.enter(sandbox_.str(), Urgency::kCanWait, call));
      }
      COVE_CO_TRY(auto found, co_await core_->records.load(sandbox_, call));
      if (!found) co_return not_found();
      const Record record = found->record;
      COVE_CO_TRY(const Next next, co_await go_on(*std::move(found), call));
      if (next == Next::kDone) co_return ok();
      if (next == Next::kWait) COVE_CO_TRY_VOID(co_await patience.wait(record, call));
    }
  }

 private:
  enum class Next : std::uint8_t { kDone, kAgain, kWait };

  Error not_found() const {
    return Error(ErrorCode::kNotFound, "no sandbox '" + sandbox_.str() + "'");
  }

  Task<Result<Next>> go_on(StoredRecord at, const CallContext& call) {
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call));
    const Move move = move_for(*core_, at.record, now, options_.provider);
    if (move == Move::kDone) co_return Next::kDone;
    if (move == Move::kNotFound) co_return not_found();
    if (move == Move::kRefuse) {
      co_return Error(
          ErrorCode::kFailedPrecondition,
          "sandbox '" + sandbox_.str() +
              "' was never made; acquire it again, or destroy it: " + describe(at.record));
    }
    // What is in the archive needs neither the provider nor the node that it comes from.
    if (move != Move::kRestore) COVE_CO_TRY_VOID(core_->check_node(at.record));
    if (move == Move::kWait) co_return Next::kWait;
    if (move == Move::kAbandon) {
      COVE_CO_TRY_VOID(co_await abandon_start(*core_, std::move(at), intent_.reason, call));
      co_return Next::kAgain;
    }
    co_return co_await perform_move(move, std::move(at), call);
  }

  Task<Result<Next>> perform_move(Move move, StoredRecord at, const CallContext& call) {
    const Taking taking = taking_for(move);
    Intent intent = intent_;
    if (goes_there(move)) intent.provider = options_.provider;
    auto hold = hold_;
    // It alone has the turn, and gives it to a user who need not wait for its deletions.
    if (move != Move::kStop) hold_.reset();
    COVE_CO_TRY(auto job,
                co_await take(core_, std::move(hold), std::move(at), taking, intent, call));
    if (!job) co_return Next::kAgain;
    COVE_CO_TRY(const Driven driven, co_await perform(job, call));
    const bool has_garbage = !job->at.record.garbage.empty();
    // To a user who waits at the gate, for whom it would be begun and given up for ever. Past its
    // upload it is left to that user's restore, which goes to the same place.
    const bool abandoned = driven == Driven::kYielded && !job->at.record.operation;
    job.reset();
    if (has_garbage) collect_garbage_soon(core_, sandbox_);
    if (abandoned) {
      co_return Error(ErrorCode::kFailedPrecondition,
                      "sandbox '" + sandbox_.str() + "' was asked for meanwhile: it is in use");
    }
    co_return Next::kAgain;
  }

  std::shared_ptr<Core> core_;
  SandboxId sandbox_;
  RelocateOptions options_;
  Intent intent_;
  std::shared_ptr<Gates::Hold> hold_;
};

}  // namespace

Task<Result<void>> relocate(std::shared_ptr<Core> core, SandboxId sandbox, RelocateOptions options,
                            const CallContext& call) {
  COVE_CO_TRY_VOID(check_options(*core, options));
  Relocate relocating(std::move(core), std::move(sandbox), std::move(options));
  co_return co_await relocating.run(call);
}

}  // namespace cove::lifecycle

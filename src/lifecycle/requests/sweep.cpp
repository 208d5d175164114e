#include "lifecycle/requests/sweep.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/async/completion.hpp"
#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/operations/runner.hpp"
#include "lifecycle/requests/settle.hpp"

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAtOnce = 4;
constexpr std::uint32_t kPage = 200;

/// Longer after each failure: 10 s, 20 s, ... up to an hour.
std::chrono::milliseconds back_off(std::uint32_t failures) {
  if (failures == 0) return 0ms;
  return std::min<std::chrono::milliseconds>(10s * (1U << std::min(failures - 1, 9U)), 1h);
}

bool must_rest(const Record& record, StoreTime now) {
  return record.failed_at + back_off(record.failures) > now;
}

/// What the sweep does about a record.
enum class Move : std::uint8_t { kNothing, kStop, kArchive, kTakeOver, kAbandon, kUndo };

Move move_for_operation(const Core& core, const Record& record, StoreTime now) {
  if (!core.is_free(*record.operation, now) || must_rest(record, now)) return Move::kNothing;
  switch (record.operation->kind) {
    case OperationKind::kProvision: return Move::kUndo;
    case OperationKind::kResume:
    case OperationKind::kRestore: return Move::kAbandon;
    case OperationKind::kStop:
    case OperationKind::kArchive:
    case OperationKind::kDestroy: break;
  }
  return Move::kTakeOver;
}

Move move_for(const Core& core, const Record& record, StoreTime now) {
  if (record.operation) return move_for_operation(core, record, now);
  const Record living = core.without_dead_leases(record);
  if (has_live_lease(living, now, OwnerId()) || must_rest(record, now)) return Move::kNothing;
  const auto idle = now - record.last_active_at;
  if (record.state == SandboxState::kRunning && idle > core.settings.stop_after) {
    return Move::kStop;
  }
  if (record.state == SandboxState::kStopped && idle > core.settings.archive_after) {
    return Move::kArchive;
  }
  return Move::kNothing;
}

Result<Record> taken(Move move, const Record& record, const Attempt& attempt) {
  switch (move) {
    case Move::kStop: return claim(record, OperationKind::kStop, attempt);
    case Move::kArchive: return claim(record, OperationKind::kArchive, attempt);
    case Move::kUndo: return claim(record, OperationKind::kDestroy, attempt);
    case Move::kTakeOver:
    case Move::kAbandon:
    case Move::kNothing: break;
  }
  return take_over(record, attempt);
}

class Sweep {
 public:
  Sweep(std::shared_ptr<Core> core, const CallContext& call)
      : core_(std::move(core)), call_(call) {}

  Task<Result<SweepReport>> run() {
    COVE_CO_TRY_VOID(co_await find_work());
    co_await work_through();
    co_await sweep_tombstones();
    const auto orphans = co_await stop_orphans(core_, call_);
    if (!orphans) note("orphans", orphans.error());
    COVE_CO_TRY_VOID(call_.check(core_->parts.clock));
    co_return report_;
  }

 private:
  using Names = std::set<SandboxId>;

  Task<Result<void>> find_work() {
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call_));
    DocumentQuery unfinished;
    unfinished.order = QueryOrder::kByHeartbeat;
    COVE_CO_TRY_VOID(co_await gather(unfinished));
    DocumentQuery idle;
    idle.order = QueryOrder::kByActivity;
    idle.state = name_of(SandboxState::kRunning);
    idle.active_before = now - core_->settings.stop_after;
    COVE_CO_TRY_VOID(co_await gather(idle));
    idle.state = name_of(SandboxState::kStopped);
    idle.active_before = now - core_->settings.archive_after;
    co_return co_await gather(idle);
  }

  Task<Result<void>> gather(DocumentQuery query) {
    query.limit = kPage;
    do {
      COVE_CO_TRY(const auto page, co_await core_->records.query(query, call_));
      for (const StoredDocument& document : page.documents) {
        if (names_.insert(SandboxId(document.id.name)).second) {
          work_.push_back(SandboxId(document.id.name));
        }
      }
      query.after = page.next;
    } while (!query.after.empty());
    co_return ok();
  }

  Task<void> work_through() {
    const std::size_t workers = std::min(kAtOnce, work_.size());
    running_ = workers;
    const auto all_done = base::Completion<int>::make(core_->parts.scheduler);
    for (std::size_t i = 0; i < workers; ++i) core_->run_beside(work(this, all_done));
    if (workers > 0) co_await all_done->wait();
  }

  static Task<void> work(Sweep* sweep, std::shared_ptr<base::Completion<int>> all_done) {
    while (sweep->next_ < sweep->work_.size() && sweep->may_go_on()) {
      const SandboxId sandbox = sweep->work_[sweep->next_++];
      const auto done = co_await sweep->sweep_one(sandbox);
      if (!done) sweep->note(sandbox.str(), done.error());
    }
    if (--sweep->running_ == 0) all_done->complete(0);
  }

  bool may_go_on() const {
    return call_.check(core_->parts.clock).has_value() && !core_->closing.stop_requested();
  }

  void note(const std::string& subject, const Error& error) {
    report_.errors.push_back(subject + ": " + error.describe());
  }

  Task<Result<void>> sweep_one(SandboxId sandbox) {
    auto hold = core_->gates.try_enter(sandbox.str());
    if (!hold) {
      ++report_.skipped;
      co_return ok();
    }
    COVE_CO_TRY(auto found, co_await core_->records.load(sandbox, call_));
    if (!found) co_return ok();
    ++report_.examined;
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call_));
    const bool has_garbage = !found->record.garbage.empty();
    const Move move = move_for(*core_, found->record, now);
    Result<void> moved = ok();
    if (move != Move::kNothing) moved = co_await make_move(move, *std::move(found), hold);
    hold.reset();
    // What the move replaced is on the list now.
    if (has_garbage || move != Move::kNothing) {
      COVE_CO_TRY(const auto deleted, co_await collect_garbage(*core_, sandbox, call_));
      report_.deleted += deleted;
    }
    co_return moved;
  }

  Task<Result<void>> make_move(Move move, StoredRecord at, std::shared_ptr<Gates::Hold> hold) {
    if (!core_->check_node(at.record)) {
      ++report_.skipped;
      co_return ok();
    }
    if (move == Move::kAbandon) {
      COVE_CO_TRY_VOID(co_await abandon_start(*core_, std::move(at), call_));
      ++report_.recovered;
      co_return ok();
    }
    const Taking taking = [move](const Record& record, const Attempt& attempt) {
      return taken(move, record, attempt);
    };
    COVE_CO_TRY(auto job, co_await take(core_, hold, std::move(at), taking, Intent(), call_));
    hold.reset();
    if (!job) {
      ++report_.skipped;
      co_return ok();
    }
    const auto driven = co_await perform(job, call_);
    const bool refused = job->refused;
    job.reset();
    if (!driven && !refused) co_return driven.error();
    count(move, driven && *driven == Driven::kCompleted);
    co_return ok();
  }

  void count(Move move, bool completed) {
    if (!completed) {
      ++report_.skipped;
    } else if (move == Move::kStop) {
      ++report_.stopped;
    } else if (move == Move::kArchive) {
      ++report_.archived;
    } else {
      ++report_.recovered;
    }
  }

  Task<void> sweep_tombstones() {
    const auto found = co_await find_due_tombstones();
    if (!found) {
      note("tombstones", found.error());
      co_return;
    }
    for (const SandboxId& sandbox : *found) {
      if (!may_go_on()) co_return;
      const auto swept = co_await sweep_tombstone(*core_, sandbox, call_);
      if (swept) {
        report_.deleted += *swept;
      } else {
        note(sandbox.str(), swept.error());
      }
    }
  }

  Task<Result<std::vector<SandboxId>>> find_due_tombstones() {
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call_));
    DocumentQuery due;
    due.kind = DocumentKind::kTombstone;
    due.order = QueryOrder::kByActivity;
    due.active_before = now - core_->settings.tombstone_keep;
    due.limit = kPage;
    std::vector<SandboxId> sandboxes;
    do {
      COVE_CO_TRY(const auto page, co_await core_->records.query(due, call_));
      for (const auto& document : page.documents) sandboxes.emplace_back(document.id.name);
      due.after = page.next;
    } while (!due.after.empty());
    co_return sandboxes;
  }

  std::shared_ptr<Core> core_;
  const CallContext& call_;
  SweepReport report_;
  Names names_;
  std::vector<SandboxId> work_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
};

}  // namespace

Task<Result<SweepReport>> sweep(std::shared_ptr<Core> core, const CallContext& call) {
  Sweep sweeping(std::move(core), call);
  co_return co_await sweeping.run();
}

}  // namespace cove::lifecycle

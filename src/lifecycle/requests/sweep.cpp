#include "lifecycle/requests/sweep.hpp"

#include <algorithm>
#include <utility>

#include "base/async/completion.hpp"
#include "lifecycle/leases/lease_store.hpp"
#include "lifecycle/operations/claim.hpp"
#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/operations/runner.hpp"
#include "lifecycle/requests/due_records.hpp"
#include "lifecycle/requests/settle.hpp"
#include "lifecycle/requests/source.hpp"
#include "lifecycle/requests/sweep_move.hpp"

namespace cove::lifecycle {
namespace {

constexpr std::uint32_t kPage = 200;
constexpr std::size_t kMaxNoted = 1000;  // errors and plans that a report keeps
constexpr std::uint32_t kMostAtOnce = 64;

Result<void> check_options(const SweepOptions& options) {
  if (options.at_once >= 1 && options.at_once <= kMostAtOnce) return {};
  return Error(ErrorCode::kInvalidArgument, "a sweep works on 1 to 64 sandboxes at once");
}

Result<Record> taken(SweepMove move, const Record& record, const Attempt& attempt) {
  switch (move) {
    case SweepMove::kStop: return claim(record, OperationKind::kStop, attempt);
    case SweepMove::kArchive: return claim(record, OperationKind::kArchive, attempt);
    case SweepMove::kUndo: return claim(record, OperationKind::kDestroy, attempt);
    case SweepMove::kTakeOver:
    case SweepMove::kAbandon:
    case SweepMove::kNothing: break;
  }
  return take_over(record, attempt);
}

Intent intent_of(SweepMove move) {
  const bool idle = move == SweepMove::kStop || move == SweepMove::kArchive;
  Intent intent;
  intent.reason = idle ? Reason::kIdle : Reason::kRecovery;
  return intent;
}

class Sweep {
 public:
  Sweep(std::shared_ptr<Core> core, SweepOptions options, IdleRules rules, const CallContext& call)
      : core_(std::move(core)),
        options_(std::move(options)),
        rules_(std::move(rules)),
        call_(call) {}

  Task<Result<SweepReport>> run() {
    COVE_CO_TRY_VOID(co_await sweep_records());
    if (!options_.dry_run) co_await sweep_the_rest();
    COVE_CO_TRY_VOID(call_.check(core_->parts.clock));
    co_return report_;
  }

 private:
  /// What is unfinished first, then what runs, then what is stopped: what the second makes of a
  /// source that archives at once, the third finds.
  Task<Result<void>> sweep_records() {
    DocumentQuery unfinished;
    unfinished.order = QueryOrder::kByHeartbeat;
    const DueRecords::LeavesOut nobody;
    COVE_CO_TRY_VOID(co_await sweep_due(unfinished, nobody));
    COVE_CO_TRY_VOID(co_await sweep_idle(SandboxState::kRunning));
    co_return co_await sweep_idle(SandboxState::kStopped);
  }

  Task<Result<void>> sweep_idle(SandboxState state) {
    const bool runs = state == SandboxState::kRunning;
    const DueRecords::LeavesOut has_own = [this, runs](const std::string& source) {
      return runs ? rules_.has_own_stop(source) : rules_.has_own_archive(source);
    };
    const auto after = [this, runs](const std::string& source) {
      return runs ? std::optional(rules_.stop_after(source)) : rules_.archive_after(source);
    };
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call_));
    DocumentQuery idle;
    idle.order = QueryOrder::kByActivity;
    idle.state = cove::name_of(state);
    idle.active_before = now - *after("");
    COVE_CO_TRY_VOID(co_await sweep_due(idle, has_own));
    for (const auto& [source, policy] : rules_.policies()) {
      const std::optional<std::chrono::milliseconds> own = after(source);
      if (!has_own(source) || !own) continue;
      // A stop of this pass may be younger than the time that was read.
      COVE_CO_TRY(const StoreTime later, co_await core_->records.now(call_));
      idle.source = source;
      idle.active_before = later - *own;
      const DueRecords::LeavesOut nobody;
      COVE_CO_TRY_VOID(co_await sweep_due(idle, nobody));
    }
    co_return ok();
  }

  Task<Result<void>> sweep_due(DocumentQuery query, DueRecords::LeavesOut leaves_out) {
    DueRecords due(core_->records, std::move(query), std::move(leaves_out));
    while (may_go_on()) {
      COVE_CO_TRY(work_, co_await due.next(call_));
      if (work_.empty()) break;
      co_await work_through();
    }
    co_return ok();
  }

  Task<void> work_through() {
    next_ = 0;
    const std::size_t workers = std::min<std::size_t>(options_.at_once, work_.size());
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
    ++report_.failed;
    if (report_.errors.size() < kMaxNoted) {
      report_.errors.push_back(subject + ": " + error.describe());
    }
  }

  /// Tells what was done about a sandbox.
  void show(const SandboxId& sandbox, SweepMove move, const Result<void>& moved) {
    if (!options_.progress) return;
    SweepStep step{sandbox, std::string(name_of(move)), ""};
    if (!moved) step.error = moved.error().describe();
    options_.progress(step, report_);
  }

  void plan(const SandboxId& sandbox, SweepMove move) {
    count(move, true);
    if (report_.planned.size() < kMaxNoted) {
      report_.planned.push_back(SweepStep{sandbox, std::string(name_of(move)), ""});
    }
    show(sandbox, move, ok());
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
    const SweepMove move = sweep_move_for(*core_, rules_, found->record, now);
    Result<void> moved = ok();
    if (move != SweepMove::kNothing && !core_->check_node(found->record)) {
      ++report_.skipped;
    } else if (move != SweepMove::kNothing && options_.dry_run) {
      plan(sandbox, move);
    } else if (move != SweepMove::kNothing) {
      moved = co_await make_move(move, *std::move(found), std::move(hold));
      show(sandbox, move, moved);
    }
    hold.reset();
    // What the move replaced is on the list now.
    if (!options_.dry_run && (has_garbage || move != SweepMove::kNothing)) {
      COVE_CO_TRY(const auto deleted, co_await collect_garbage(*core_, sandbox, call_));
      report_.deleted += deleted;
    }
    co_return moved;
  }

  Task<Result<void>> make_move(SweepMove move, StoredRecord at, std::shared_ptr<Gates::Hold> hold) {
    if (move == SweepMove::kAbandon) {
      COVE_CO_TRY_VOID(co_await abandon_start(*core_, std::move(at), Reason::kRecovery, call_));
      ++report_.recovered;
      co_return ok();
    }
    const Taking taking = [move](const Record& record, const Attempt& attempt) {
      return taken(move, record, attempt);
    };
    const Intent intent = intent_of(move);
    COVE_CO_TRY(auto job,
                co_await take(core_, std::move(hold), std::move(at), taking, intent, call_));
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

  void count(SweepMove move, bool completed) {
    if (!completed) {
      ++report_.skipped;
    } else if (move == SweepMove::kStop) {
      ++report_.stopped;
    } else if (move == SweepMove::kArchive) {
      ++report_.archived;
    } else {
      ++report_.recovered;
    }
  }

  /// What is not a sandbox's record.
  Task<void> sweep_the_rest() {
    co_await sweep_tombstones();
    const auto orphans = co_await stop_orphans(core_, call_);
    if (!orphans) note("orphans", orphans.error());
    const auto lost = co_await settle_lost(core_, call_);
    if (lost) {
      report_.lost += *lost;
    } else {
      note("lost instances", lost.error());
    }
    const auto places = co_await core_->quotas.reclaim_all(call_);
    if (!places) note("quotas", places.error());
    const auto leases = co_await sweep_leases();
    if (!leases) note("leases", leases.error());
  }

  Task<Result<void>> sweep_leases() {
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call_));
    LeaseStore leases(core_->parts.store);
    const StoreTime before = now - core_->settings.tombstone_keep;
    COVE_CO_TRY_VOID(co_await leases.remove_unused(before, call_));
    co_return ok();
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
  SweepOptions options_;
  IdleRules rules_;
  const CallContext& call_;
  SweepReport report_;
  std::vector<SandboxId> work_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
};

}  // namespace

Task<Result<SweepReport>> sweep(std::shared_ptr<Core> core, SweepOptions options,
                                const CallContext& call) {
  COVE_CO_TRY_VOID(check_options(options));
  COVE_CO_TRY(auto policies, co_await idle_policies(core, call));
  IdleRules rules(core->settings, std::move(policies));
  Sweep sweeping(std::move(core), std::move(options), std::move(rules), call);
  co_return co_await sweeping.run();
}

}  // namespace cove::lifecycle

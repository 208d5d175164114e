// What a preparation does once it is its turn: which steps run, and what is kept of them.
#include "prepare/pipeline/run.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kFirstRetry = 30s;
constexpr milliseconds kLongestRetry = 1h;
constexpr auto kForSaving = 5s;

/// How long a step that failed so often is left alone.
milliseconds retry_after(std::uint32_t failures) {
  milliseconds delay = kFirstRetry;
  for (std::uint32_t i = 1; i < failures && delay < kLongestRetry; ++i) delay *= 2;
  return std::min(delay, kLongestRetry);
}

/// For saving what was done, also after the acquire's own time is over.
CallContext saving_time(const Clock& clock) {
  return {.deadline = clock.now() + kForSaving, .stop = {}};
}

Error refusal_of(const PrepareStep& step, const StepReport& report) {
  Error refused = Error(report.error->code(),
                        "preparing the workspace failed in the step " + base::quoted(step.name))
                      .with_context("step", step.name);
  if (!report.output.empty()) refused = refused.with_context("output", report.output);
  if (report.error->retry_after()) {
    refused = refused.with_retry_after(*report.error->retry_after());
  }
  return refused.with_cause(*report.error);
}

Error taken_over() {
  return Error(ErrorCode::kUnavailable, "another process prepares the workspace by now")
      .with_retry_after(1s);
}

}  // namespace

bool Pipeline::Run::is_done(const PrepareStep& step, const std::string& hash) const {
  const StepState* known = state_.find(step.name);
  if (step.fingerprint.empty() || known == nullptr || known->done != hash) return false;
  return step.name != preparation_.files_step || preparation_.placed_files(known->note).has_value();
}

Task<Result<void>> Pipeline::Run::learn_failure(const PrepareStep& step, const std::string& hash,
                                                const CallContext& call) {
  const StepState* known = state_.find(step.name);
  if (known == nullptr || known->failed != hash) co_return ok();
  const Failure* ours = nullptr;
  if (const auto found = memory().failures.find(step.name); found != memory().failures.end()) {
    ours = &found->second;
  }
  if (ours != nullptr && ours->hash == hash && ours->failures >= known->failures) co_return ok();
  if (!store_now_) {
    COVE_CO_TRY(store_now_, co_await pipeline_.gate_.now(call));
    known = state_.find(step.name);
  }
  // Whoever wrote it, it is no longer than we would wait ourselves.
  memory().make_room();
  const auto left = std::clamp(known->retry_at - *store_now_, milliseconds(0), kLongestRetry);
  memory().failures[step.name] =
      Failure{hash, known->failures, pipeline_.clock_.now() + left, "it failed before"};
  co_return ok();
}

Task<Result<std::vector<Pipeline::Run::Planned>>> Pipeline::Run::plan(const CallContext& call) {
  std::vector<Planned> planned;
  for (const PrepareStep& step : preparation_.steps) {
    const std::string hash = hash_of(step.fingerprint);
    if (preparation_.takes_back.contains(step.name) && state_.find(step.name) == nullptr) {
      planned.push_back({Verdict::kDone, {}, true});
      continue;
    }
    if (is_done(step, hash)) {
      planned.push_back({Verdict::kDone, skipped(step, "unchanged"), false});
      continue;
    }
    planned.push_back({Verdict::kRun, {}, false});
    if (step.policy == StepPolicy::kRequired) continue;
    COVE_CO_TRY_VOID(co_await learn_failure(step, hash, call));
    const auto failure = memory().failures.find(step.name);
    const Instant now = pipeline_.clock_.now();
    if (failure == memory().failures.end() || failure->second.hash != hash ||
        failure->second.retry_at <= now) {
      continue;
    }
    StepReport report = skipped(step, failure->second.reason);
    report.retry_after = std::chrono::ceil<milliseconds>(failure->second.retry_at - now);
    planned.back() = {Verdict::kNotYet, std::move(report), false};
  }
  co_return planned;
}

Result<void> Pipeline::Run::check_refusal(std::uint64_t seen) {
  const std::optional<Refusal>& refusal = memory().refusal;
  if (!refusal || refusal->number <= seen) return ok();
  for (const PrepareStep& step : preparation_.steps) {
    if (step.name == refusal->step && hash_of(step.fingerprint) == refusal->hash) {
      return refusal->error;
    }
  }
  return ok();
}

Task<Result<void>> Pipeline::Run::run_leased(const Lease& lease, const CallContext& call) {
  std::stop_source over;
  const auto end = [&over] { over.request_stop(); };
  const std::stop_callback on_stop(call.stop, end);
  const std::stop_callback on_lost(lease.lost(), end);
  CallContext inner = call.ended_by(over.get_token());
  inner.fence = lease.token();
  if (place_.make_handle) handle_ = place_.make_handle(lease.token());
  const Result<void> done = co_await run_steps(lease, inner);
  // Only the lost lease tells of another process: a step may fail with kCancelled by itself, and
  // the caller may call the acquire off.
  const bool is_cut = !done && done.error().code() == ErrorCode::kCancelled;
  const bool is_lost = lease.lost().stop_requested() && !call.stop.stop_requested();
  if (is_cut && is_lost) co_return taken_over();
  co_return done;
}

Task<Result<void>> Pipeline::Run::run_steps(const Lease& lease, const CallContext& call) {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].hidden) continue;
    if (plan_[i].verdict != Verdict::kRun) {
      finish(plan_[i].report);
      continue;
    }
    COVE_CO_TRY_VOID(call.check(pipeline_.clock_));
    if (!lease.held()) co_return taken_over();
    COVE_CO_TRY_VOID(co_await run_one(lease, preparation_.steps[i], call));
  }
  co_return ok();
}

Task<Result<void>> Pipeline::Run::run_one(const Lease& lease, const PrepareStep& step,
                                          const CallContext& call) {
  const Site site{sandbox(),        place_.guest,  pipeline_.scheduler_,
                  pipeline_.clock_, handle_.get(), &place_.instance};
  const StepState* known = state_.find(step.name);
  std::string note = known == nullptr ? std::string() : known->note;
  Result<StepRun> run = co_await run_step(step, preparation_, site, std::move(note), call);
  // The guest may have refused it for a later holder: that is no failure of the step's.
  const bool has_failed = !run || run->report.outcome == StepOutcome::kFailed;
  if (has_failed && !lease.held()) co_return taken_over();
  if (!run) {
    // A step that needs longer than acquires have would else be begun by every one of them.
    const bool too_slow = run.error().code() == ErrorCode::kTimeout;
    if (too_slow && step.policy == StepPolicy::kBestEffort) {
      StepReport report = skipped(step, "the acquire's deadline passed while it ran");
      report.error = run.error();
      report.outcome = StepOutcome::kFailed;
      COVE_CO_TRY_VOID(co_await keep_failure(step, std::move(report), call));
    }
    co_return run.error();
  }
  if (run->report.outcome == StepOutcome::kFailed) {
    StepReport report = std::move(run->report);
    co_return co_await keep_failure(step, std::move(report), call);
  }
  StepRun done = *std::move(run);
  co_return co_await keep_success(step, std::move(done), call);
}

Task<Result<void>> Pipeline::Run::keep_success(const PrepareStep& step, StepRun run,
                                               const CallContext& call) {
  memory().failures.erase(step.name);
  if (!step.fingerprint.empty()) {
    StepState done;
    done.name = step.name;
    done.done = hash_of(step.fingerprint);
    done.note = std::move(run.note);
    const StepState* before = state_.find(step.name);
    if (before != nullptr && before->done != done.done) memory().forget(step.name);
    if (before == nullptr && preparation_.taken_back.contains(step.name)) memory().forget_all();
    state_.put(std::move(done));
  }
  finish(std::move(run.report));
  co_await save(call);
  co_return ok();
}

Task<Result<void>> Pipeline::Run::keep_failure(const PrepareStep& step, StepReport report,
                                               const CallContext& call) {
  const std::string hash = hash_of(step.fingerprint);
  if (step.policy == StepPolicy::kRequired) {
    const Error refused = refusal_of(step, report);
    memory().refusal = Refusal{step.name, hash, ++pipeline_.refusals_, refused};
    finish(std::move(report));
    co_return refused;
  }
  memory().make_room();
  Failure& failure = memory().failures[step.name];
  const std::uint32_t before = failure.hash == hash ? failure.failures : 0;
  const milliseconds delay = retry_after(before + 1);
  failure = {hash, before + 1, pipeline_.clock_.now() + delay, report.reason};
  report.retry_after = delay;
  pipeline_.gate_.complain("prepare of " + sandbox().str() + ": step '" + step.name +
                           "' failed: " + report.reason);
  finish(std::move(report));
  const CallContext patience = saving_time(pipeline_.clock_);
  const Result<StoreTime> now = co_await pipeline_.gate_.now(patience);
  if (!now) co_return ok();  // this process knows it anyway
  const StepState* known = state_.find(step.name);
  StepState failed = known == nullptr ? StepState() : *known;
  failed.name = step.name;
  failed.failed = hash;
  failed.failures = before + 1;
  failed.retry_at = *now + delay;
  state_.put(std::move(failed));
  co_await save(call);
  co_return ok();
}

Task<void> Pipeline::Run::save(const CallContext& call) {
  CallContext patience = call.check(pipeline_.clock_) ? call : saving_time(pipeline_.clock_);
  patience.fence = call.fence;
  const Result<void> saved = co_await save_state(place_.guest, state_, patience);
  if (saved) co_return;
  const std::string where = "prepare of " + sandbox().str() + ": ";
  pipeline_.gate_.complain(where + preparation_.redactor.clean(saved.error().describe()));
}

std::vector<std::string> Pipeline::Run::placed_files() const {
  if (preparation_.files_step.empty()) return {};
  const StepState* known = state_.find(preparation_.files_step);
  if (known == nullptr) return {};
  return preparation_.placed_files(known->note).value_or(std::vector<std::string>());
}

/// What can be tried again later is good until then.
void Pipeline::Run::remember() {
  std::optional<Instant> until;
  for (const StepReport& step : report_.steps) {
    if (!step.retry_after) continue;
    const Instant retry = pipeline_.clock_.now() + *step.retry_after;
    until = until ? std::min(*until, retry) : retry;
  }
  memory().note({preparation_.fingerprint, report_, pipeline_.clock_.now(), until});
}

void Pipeline::Run::finish(StepReport report) {
  report_.steps.push_back(std::move(report));
  PrepareEvent event;
  event.kind = PrepareEvent::Kind::kFinished;
  event.sandbox = sandbox();
  event.step = report_.steps.back().step;
  event.report = report_.steps.back();
  tell(preparation_, event);
}

}  // namespace cove::prepare

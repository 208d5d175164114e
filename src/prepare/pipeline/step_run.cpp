#include "prepare/pipeline/step_run.hpp"

#include <utility>

#include "base/text/utf8.hpp"
#include "base/values/caught.hpp"

namespace cove::prepare {
namespace {

using std::chrono::milliseconds;

std::string seconds_text(milliseconds time) {
  const auto count = time.count();
  if (count % 1000 == 0) return std::to_string(count / 1000) + " s";
  return std::to_string(count) + " ms";
}

/// The last kMaxOutput bytes, of which no character is cut.
std::string tail_of(std::string text) {
  if (text.size() <= kMaxOutput) return text;
  return text.substr(base::cut_after(text, text.size() - kMaxOutput));
}

/// Calls what the host or a part of ours wrote; what it throws is its failure.
Task<Result<void>> apply(const PrepareStep& step, PrepareContext& context) {
  try {
    Task<Result<void>> task = step.apply(context);
    Result<void> applied = co_await task;
    co_return applied;
  } catch (...) {
    co_return Error(ErrorCode::kInternal, "the step threw: " + base::caught_text());
  }
}

/// Whether a failed step failed because there is no guest any more. Success: there is one.
Task<Result<void>> check_guest(const Site& site, const Error& failure, const CallContext& call) {
  if (failure.code() != ErrorCode::kUnavailable) co_return ok();
  const Result<GuestStatus> status = co_await site.guest.status(call);
  if (!status) co_return status.error();
  co_return ok();
}

Error timed_out(const PrepareStep& step) {
  return Error(ErrorCode::kUnavailable, "it took longer than its " + seconds_text(step.timeout));
}

PrepareEvent event_of(PrepareEvent::Kind kind, const Site& site, const PrepareStep& step) {
  PrepareEvent event;
  event.kind = kind;
  event.sandbox = site.sandbox;
  event.step = step.name;
  return event;
}

void describe(StepReport& report, const Result<void>& applied, bool nothing_to_do) {
  report.outcome = StepOutcome::kApplied;
  if (nothing_to_do) report.outcome = StepOutcome::kSkipped;
  if (applied) return;
  report.outcome = StepOutcome::kFailed;
  report.error = applied.error();
  const std::string said = applied.error().describe();
  report.reason = report.reason.empty() ? said : report.reason + ": " + said;
}

}  // namespace

StepReport skipped(const PrepareStep& step, std::string reason) {
  StepReport report;
  report.step = step.name;
  report.stage = step.after;
  report.policy = step.policy;
  report.reason = std::move(reason);
  return report;
}

void tell(const Preparation& preparation, const PrepareEvent& event) {
  if (!preparation.observer) return;
  try {
    preparation.observer(event);
  } catch (...) {
    // The host's listener is no part of the preparation.
  }
}

Task<Result<StepRun>> run_step(const PrepareStep& step, const Preparation& preparation,
                               const Site& site, std::string note, const CallContext& call) {
  const Instant began = site.clock.now();
  const Instant limit = began + step.timeout;
  const bool is_ours = !call.deadline || limit < *call.deadline;
  CallContext bounded = call;
  if (is_ours) bounded.deadline = limit;
  const Redactor& redactor = preparation.redactor;
  PrepareContext context{.guest = site.guest,
                         .scheduler = site.scheduler,
                         .clock = site.clock,
                         .call = bounded,
                         .session = preparation.session,
                         .env = preparation.env,
                         .workspace = site.workspace,
                         .instance = site.instance,
                         .note = std::move(note),
                         .reason = {},
                         .output = {},
                         .nothing_to_do = false,
                         .tell = {}};
  context.tell = [&](const std::string& text) {
    PrepareEvent event = event_of(PrepareEvent::Kind::kProgress, site, step);
    event.text = redactor.clean(text);
    tell(preparation, event);
  };
  tell(preparation, event_of(PrepareEvent::Kind::kStarted, site, step));
  Result<void> applied = co_await apply(step, context);
  if (!applied) COVE_CO_TRY_VOID(call.check(site.clock));
  if (!applied && is_ours && applied.error().code() == ErrorCode::kTimeout) {
    applied = timed_out(step);
  }
  if (!applied) {
    COVE_CO_TRY_VOID(co_await check_guest(site, applied.error(), call));
    applied = redactor.clean(applied.error());
  }
  StepRun run{.report = skipped(step, redactor.clean(context.reason)),
              .note = redactor.clean(context.note)};
  run.report.output = tail_of(redactor.clean_part(context.output));
  run.report.duration = std::chrono::duration_cast<milliseconds>(site.clock.now() - began);
  describe(run.report, applied, context.nothing_to_do);
  co_return run;
}

}  // namespace cove::prepare

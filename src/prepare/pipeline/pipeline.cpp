#include "prepare/pipeline/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "base/sha256.hpp"
#include "prepare/pipeline/run.hpp"

namespace cove::prepare {
namespace {

std::chrono::milliseconds since(Instant then, const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - then);
}

/// What a preparation that is remembered says of itself now.
PrepareReport recalled(const Prepared& prepared, Instant now) {
  PrepareReport report = prepared.report;
  report.path = PreparePath::kRemembered;
  report.duration = report.waited = std::chrono::milliseconds(0);
  for (StepReport& step : report.steps) {
    if (step.outcome == StepOutcome::kApplied) step.reason = "unchanged";
    step.outcome = StepOutcome::kSkipped;
    step.duration = std::chrono::milliseconds(0);
    step.output.clear();
    step.error.reset();
    if (!step.retry_after) continue;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - prepared.at);
    step.retry_after = std::max(*step.retry_after - passed, std::chrono::milliseconds(0));
  }
  return report;
}

void append(std::string& text, std::string_view part) {
  text += std::to_string(part.size()) + ":";
  text += part;
}

}  // namespace

std::string combined(const std::vector<PrepareStep>& steps) {
  std::string all;
  for (const PrepareStep& step : steps) {
    if (step.fingerprint.empty()) return {};
    append(all, step.name);
    append(all, step.fingerprint);
  }
  return base::sha256_hex(all);
}

bool Pipeline::remembers(const InstanceRef& instance, const Preparation& preparation) {
  SandboxMemory* memory = memory_.find(instance);
  return memory != nullptr && memory->find(preparation.fingerprint, clock_.now()) != nullptr;
}

Task<Result<void>> Pipeline::prepare(Place place, const Preparation& preparation,
                                     PrepareReport& report, const CallContext& call) {
  report = PrepareReport();
  if (preparation.steps.empty()) co_return ok();
  const Instant began = clock_.now();
  Run run(*this, place, preparation, report);
  if (run.recall()) co_return ok();
  Result<void> done = co_await run.look(call);
  if (done && !run.finished()) done = co_await run.take_turn(call);
  report.duration = since(began, clock_);
  co_return done;
}

Task<Result<void>> Pipeline::mark_undone(Place place, std::vector<std::string> steps,
                                         const CallContext& call) {
  const SandboxId sandbox = place.instance.volume.sandbox;
  COVE_CO_TRY(const Turns::Turn turn, co_await turns_.take(sandbox, call));
  COVE_CO_TRY(const auto lease, co_await gate_.enter(sandbox, call));
  CallContext leased = call;
  leased.fence = lease->token();
  COVE_CO_TRY(State state, co_await load_state(place.guest, clock_, leased));
  SandboxMemory& memory = memory_.of(place.instance);
  for (const std::string& name : steps) {
    memory.forget(name);
    const StepState* known = state.find(name);
    if (known == nullptr) continue;
    StepState undone = *known;
    undone.done.clear();
    state.put(std::move(undone));
  }
  co_return co_await save_state(place.guest, state, leased);
}

bool Pipeline::Run::recall() {
  SandboxMemory* memory = pipeline_.memory_.find(place_.instance);
  if (memory == nullptr) return false;
  const Instant now = pipeline_.clock_.now();
  const Prepared* found = memory->find(preparation_.fingerprint, now);
  if (found == nullptr) return false;
  report_ = recalled(*found, now);
  return finished_ = true;
}

/// Success also where there is something left to do: see `finished`.
Task<Result<void>> Pipeline::Run::look(const CallContext& call) {
  COVE_CO_TRY(state_, co_await load_state(place_.guest, pipeline_.clock_, call));
  COVE_CO_TRY(plan_, co_await plan(call));
  const bool is_idle = std::none_of(plan_.begin(), plan_.end(), [](const Planned& step) {
    return step.verdict == Verdict::kRun;
  });
  if (!is_idle) co_return ok();
  report_.path = PreparePath::kUnchanged;
  for (const Planned& step : plan_) {
    if (!step.hidden) report_.steps.push_back(step.report);
  }
  report_.input_files = placed_files();
  remember();
  finished_ = true;
  co_return ok();
}

Task<Result<void>> Pipeline::Run::take_turn(const CallContext& call) {
  const Instant came = pipeline_.clock_.now();
  const std::uint64_t seen = pipeline_.refusals_;
  if (pipeline_.turns_.is_taken(sandbox())) {
    PrepareEvent event;
    event.kind = PrepareEvent::Kind::kWaiting;
    event.sandbox = sandbox();
    tell(preparation_, event);
  }
  COVE_CO_TRY(const Turns::Turn turn, co_await pipeline_.turns_.take(sandbox(), call));
  report_.waited = since(came, pipeline_.clock_);
  if (recall()) {
    report_.waited = since(came, pipeline_.clock_);
    co_return ok();
  }
  COVE_CO_TRY_VOID(check_refusal(seen));
  COVE_CO_TRY(const auto lease, co_await pipeline_.gate_.enter(sandbox(), call));
  report_.waited = since(came, pipeline_.clock_);
  COVE_CO_TRY_VOID(co_await look(call));
  if (finished_) co_return ok();
  report_.path = PreparePath::kRun;
  COVE_CO_TRY_VOID(co_await run_leased(*lease, call));
  report_.input_files = placed_files();
  remember();
  finished_ = true;
  co_return ok();
}

}  // namespace cove::prepare

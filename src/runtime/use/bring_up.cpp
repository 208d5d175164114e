#include "runtime/use/bring_up.hpp"

#include <algorithm>
#include <optional>

#include "base/async/timing.hpp"
#include "prepare/steps/system_layer.hpp"

namespace cove::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kStillFresh = 1s;    // an answer so young proves that the guest lives
constexpr auto kForAnAnswer = 10s;  // to a ping
constexpr int kMostTries = 4;
constexpr auto kFirstPause = 50ms;

bool is_unreachable(const Error& error) {
  return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kConflict;
}

/// Asks the guest whether it lives.
Task<Result<void>> ping(Core& core, Guest& guest, const CallContext& call) {
  const Instant bound = core.clock().now() + kForAnAnswer;
  const bool is_ours = !call.deadline || bound < *call.deadline;
  const CallContext bounded = call.until(bound);
  const Result<GuestStatus> status = co_await guest.status(bounded);
  if (status) co_return ok();
  if (is_ours && status.error().code() == ErrorCode::kTimeout) {
    co_return Error(ErrorCode::kUnavailable, "the guest gave no answer within 10 s");
  }
  co_return status.error();
}

/// A volume that somebody destroyed or archived meanwhile is missing rightly: that is no damage,
/// and the record says what to do next.
Task<Result<std::shared_ptr<Guest>>> connect(Core& core, const Seat& seat,
                                             const CallContext& call) {
  const InstanceRef instance = seat.instance;
  Provider* const provider = core.parts().find_provider(seat.provider);
  if (provider == nullptr) {
    co_return Error(ErrorCode::kUnavailable,
                    "this process has no provider '" + seat.provider + "'");
  }
  auto guest = co_await provider->connect(instance, call);
  if (guest || guest.error().code() != ErrorCode::kIntegrity) co_return guest;
  const Result<Record> record = co_await core.lifecycle().find(instance.volume.sandbox, call);
  if (!record && record.error().code() != ErrorCode::kNotFound) co_return guest;
  const bool is_current =
      record && record->generation == instance.volume.generation &&
      record->epoch == instance.epoch && record->state == SandboxState::kRunning &&
      !(record->operation && record->operation->kind == OperationKind::kDestroy);
  if (is_current) co_return guest;
  co_return Error(ErrorCode::kUnavailable, "sandbox '" + instance.volume.sandbox.str() +
                                               "' was moved on or destroyed meanwhile")
      .with_retry_after(1s)
      .with_cause(guest.error());
}

/// A connection to the seat's instance that is known to work. `is_proven`: this call just started
/// it, so that it greeted a moment ago, or goes on with a question of its own.
Task<Result<std::shared_ptr<Guest>>> reach(Core& core, Seat& seat, bool is_proven,
                                           const CallContext& call) {
  const InstanceRef instance = seat.instance;
  COVE_CO_TRY(const std::shared_ptr<Guest> guest, co_await connect(core, seat, call));
  const bool is_known = seat.guest.lock() == guest;
  if (is_known && core.clock().now() - seat.heard < kStillFresh) co_return guest;
  if (!is_proven) {
    COVE_CO_TRY_VOID(co_await ping(core, *guest, call));
  }
  if (seat.instance == instance) {
    seat.guest = guest;
    seat.heard = core.clock().now();
  }
  co_return guest;
}

/// After a failed try to reach the guest: success where another acquire may help.
Task<Result<void>> look_again(Core& core, Seat& seat, const Error& failure, int tries,
                              const CallContext& call) {
  if (!is_unreachable(failure)) co_return failure;
  doubt(core, seat);
  const InstanceRef instance = seat.instance;
  COVE_CO_TRY(const bool gone, co_await core.lifecycle().report_unreachable(instance, call));
  if (tries >= kMostTries) {
    const std::string what =
        gone ? "' ended again right after its start" : "' runs, but its guest does not answer";
    co_return Error(ErrorCode::kUnavailable, "sandbox '" + seat.sandbox.str() + what)
        .with_retry_after(1s)
        .with_cause(failure);
  }
  if (gone) co_return ok();
  const Instant later = core.clock().now() + kFirstPause * (1 << tries);
  co_return co_await base::sleep_until(core.scheduler(), later, call);
}

/// Makes the session's directory, once per instance in this process.
Task<Result<void>> make_session(Seat& seat, Guest& guest, const std::string& session,
                                const CallContext& call) {
  if (session.empty() || seat.sessions.count(session) != 0) co_return ok();
  const InstanceRef instance = seat.instance;
  const GuestPath path{"", session};
  const Result<void> made = co_await guest.make_directory(path, call);
  if (!made) co_return made.error().with_context("session", session);
  if (seat.instance != instance) co_return ok();
  seat.sessions.insert(session);
  seat.missed.erase(session);
  co_return ok();
}

/// Counts as a call of the sandbox, so that steps which last keep it in use.
struct Busy {
  Seat& seat;
  explicit Busy(Seat& busy) : seat(busy) { ++seat.calls; }
  ~Busy() { --seat.calls; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

/// Where the record knows of an archive, the volume was made by a restore: a system layer that was
/// just prepared for the first time has nothing of what was installed before.
Task<Result<void>> note_new_layer(Core& core, const Seat& seat, PrepareReport& report,
                                  const CallContext& call) {
  for (StepReport& step : report.steps) {
    if (step.step != prepare::kSystemLayerStep || step.outcome != StepOutcome::kApplied) continue;
    COVE_CO_TRY(const Record record, co_await core.lifecycle().find(seat.sandbox, call));
    if (record.snapshot) step.reason = prepare::kLayerIsNew;
  }
  co_return ok();
}

Task<Result<void>> run_steps(Core& core, Seat& seat, Preparing& preparing,
                             std::shared_ptr<Guest> guest, const CallContext& call) {
  const Busy busy(seat);
  const InstanceRef instance = seat.instance;
  prepare::Place::MakeHandle make_handle;
  if (preparing.make_handle) {
    make_handle = [&preparing, guest](std::uint64_t fence) {
      return preparing.make_handle(guest, fence);
    };
  }
  const prepare::Place where{instance, *guest, std::move(make_handle)};
  PrepareReport report;
  const Result<void> done =
      co_await core.pipeline().prepare(where, preparing.steps(), report, call);
  // That the record cannot be read now is told by the next call that needs it.
  static_cast<void>(co_await note_new_layer(core, seat, report, call));
  preparing.note(instance, done.has_value(), std::move(report));
  if (done && seat.instance == instance) seat.heard = core.clock().now();
  co_return done;
}

/// Makes the session's directory and runs the steps, as far as that is still to be done.
Task<Result<void>> make_ready(Core& core, Seat& seat, const Place& place,
                              std::shared_ptr<Guest> guest, bool is_new, const CallContext& call) {
  Preparing& preparing = *place.preparing;
  if (!preparing.steps().makes_session || seat.missed.contains(place.session)) {
    COVE_CO_TRY_VOID(co_await make_session(seat, *guest, place.session, call));
  }
  if (preparing.is_idle_on(is_new)) {
    preparing.note(seat.instance, true, {});
    co_return ok();
  }
  co_return co_await run_steps(core, seat, preparing, std::move(guest), call);
}

/// True where a step failed: its error says nothing of the guest.
bool is_of_a_step(const Error& error) {
  return std::ranges::any_of(error.context(),
                             [](const auto& fact) { return fact.first == "step"; });
}

/// A destroyed workspace stays destroyed: only an explicit acquire begins a new one.
Task<Result<void>> check_not_destroyed(Core& core, const Seat& seat, const CallContext& call) {
  Error destroyed(ErrorCode::kNotFound,
                  "sandbox '" + seat.sandbox.str() + "' was destroyed; acquire begins a new one");
  const Result<Record> record = co_await core.lifecycle().find(seat.sandbox, call);
  if (!record && record.error().code() == ErrorCode::kNotFound) co_return destroyed;
  if (!record) co_return record.error();
  if (record->operation && record->operation->kind == OperationKind::kDestroy) co_return destroyed;
  co_return ok();
}

}  // namespace

void doubt(Core& core, Seat& seat) {
  seat.doubt();
  core.lanes().close(seat.instance);
}

Task<Result<BroughtUp>> bring_up(Core& core, Seat& seat, const Place& place,
                                 const CallContext& call) {
  BroughtUp up;
  core.keep_touching();
  for (int tries = 1;; ++tries) {
    COVE_CO_TRY(const AcquiredInstance acquired,
                co_await core.lifecycle().acquire(place.key, seat.sandbox, call));
    if (up.work == AcquireWork::kNone) up.work = acquired.work;
    if (seat.instance != acquired.instance) core.lanes().close(seat.instance);
    seat.move_to(acquired.instance, acquired.provider);
    seat.touched = core.clock().now();
    const Preparing& preparing = *place.preparing;
    const bool is_new = acquired.work == AcquireWork::kProvisioned;
    const bool asks = !preparing.is_idle_on(is_new) &&
                      !core.pipeline().remembers(seat.instance, preparing.steps());
    const bool is_proven = asks || acquired.work != AcquireWork::kNone;
    Result<std::shared_ptr<Guest>> guest = co_await reach(core, seat, is_proven, call);
    Result<void> ready = ok();
    if (!guest) ready = guest.error();
    if (guest) ready = co_await make_ready(core, seat, place, *guest, is_new, call);
    if (ready) {
      up.guest = *guest;
      co_return up;
    }
    if (is_of_a_step(ready.error())) co_return ready.error();
    COVE_CO_TRY_VOID(co_await look_again(core, seat, ready.error(), tries, call));
  }
}

Task<Result<std::shared_ptr<Guest>>> keep_up(Core& core, Seat& seat, const Place& place,
                                             const CallContext& call) {
  const Instant now = core.clock().now();
  // While a stop lets what runs finish, a new call waits for it as an acquire does.
  const bool drains = core.lifecycle().drains(seat.sandbox);
  const bool lapsed = now - seat.touched > core.parts().config.lifecycle.activity_idle;
  core.keep_touching();
  if (!drains && !lapsed && core.lifecycle().touch(seat.sandbox)) {
    seat.touched = now;
    Result<std::shared_ptr<Guest>> guest = co_await reach(core, seat, false, call);
    if (guest && !place.preparing->is_ready_on(seat.instance)) {
      // Another handle woke it: on this instance only its own inputs are prepared.
      COVE_CO_TRY_VOID(co_await make_ready(core, seat, place, *guest, false, call));
    }
    if (guest || !is_unreachable(guest.error())) co_return guest;
    COVE_CO_TRY_VOID(co_await look_again(core, seat, guest.error(), 0, call));
  }
  COVE_CO_TRY_VOID(co_await check_not_destroyed(core, seat, call));
  COVE_CO_TRY(BroughtUp up, co_await bring_up(core, seat, place, call));
  co_return std::move(up.guest);
}

}  // namespace cove::runtime

#include "runtime/use/bring_up.hpp"

#include <algorithm>

#include "base/async/timing.hpp"

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
  const CallContext bounded{.deadline = is_ours ? bound : *call.deadline, .stop = call.stop};
  const Result<GuestStatus> status = co_await guest.status(bounded);
  if (status) co_return ok();
  if (is_ours && status.error().code() == ErrorCode::kTimeout) {
    co_return Error(ErrorCode::kUnavailable, "the guest gave no answer within 10 s");
  }
  co_return status.error();
}

/// A connection to the seat's instance that is known to work. `just_started`: by this call, so that
/// it greeted a moment ago.
Task<Result<std::shared_ptr<Guest>>> reach(Core& core, Seat& seat, bool just_started,
                                           const CallContext& call) {
  const InstanceRef instance = seat.instance;
  COVE_CO_TRY(const std::shared_ptr<Guest> guest,
              co_await core.parts().provider->connect(instance, call));
  const bool is_known = seat.guest.lock() == guest;
  if (is_known && core.clock().now() - seat.heard < kStillFresh) co_return guest;
  if (!just_started) {
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
  seat.doubt();
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
  if (seat.instance == instance) seat.sessions.insert(session);
  co_return ok();
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

Task<Result<BroughtUp>> bring_up(Core& core, Seat& seat, const Place& place,
                                 const CallContext& call) {
  BroughtUp up;
  for (int tries = 1;; ++tries) {
    COVE_CO_TRY(const AcquiredInstance acquired,
                co_await core.lifecycle().acquire(place.key, seat.sandbox, call));
    if (up.work == AcquireWork::kNone) up.work = acquired.work;
    seat.move_to(acquired.instance);
    seat.touched = core.clock().now();
    const bool just_started = acquired.work != AcquireWork::kNone;
    Result<std::shared_ptr<Guest>> guest = co_await reach(core, seat, just_started, call);
    if (guest) {
      up.guest = *guest;
      COVE_CO_TRY_VOID(co_await make_session(seat, *up.guest, place.session, call));
      co_return up;
    }
    COVE_CO_TRY_VOID(co_await look_again(core, seat, guest.error(), tries, call));
  }
}

Task<Result<std::shared_ptr<Guest>>> keep_up(Core& core, Seat& seat, const Place& place,
                                             const CallContext& call) {
  const Instant now = core.clock().now();
  // While a stop lets what runs finish, a new call waits for it as an acquire does.
  const bool drains = core.lifecycle().drains(seat.sandbox);
  if (!drains && now - seat.touched <= core.parts().config.lifecycle.activity_idle) {
    seat.touched = now;
    core.lifecycle().touch(seat.sandbox);
    Result<std::shared_ptr<Guest>> guest = co_await reach(core, seat, false, call);
    if (guest || !is_unreachable(guest.error())) co_return guest;
    COVE_CO_TRY_VOID(co_await look_again(core, seat, guest.error(), 0, call));
  }
  COVE_CO_TRY_VOID(co_await check_not_destroyed(core, seat, call));
  COVE_CO_TRY(BroughtUp up, co_await bring_up(core, seat, place, call));
  co_return std::move(up.guest);
}

}  // namespace cove::runtime

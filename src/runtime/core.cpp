#include "runtime/core.hpp"

#include <algorithm>
#include <utility>

#include "base/async/quiet_thread.hpp"
#include "base/async/spawn.hpp"
#include "base/system/standard_descriptors.hpp"
#include "base/values/caught.hpp"

namespace cove::runtime {
namespace {

constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);

}  // namespace

Result<std::shared_ptr<Core>> Core::open(Config config, Parts parts) {
  base::fill_standard_descriptors();
  COVE_TRY(auto machinery, assemble(std::move(config), std::move(parts)));
  const std::shared_ptr<Core> core(new Core(std::move(machinery)));
  core->start_timers();
  return core;
}

std::shared_ptr<prepare::SkillShelf> Core::make_shelf(Machinery& machinery) {
  return std::make_shared<prepare::SkillShelf>(
      prepare::SkillShelf::Parts{.objects = machinery.objects.get(),
                                 .executor = *machinery.blocking,
                                 .scheduler = *machinery.loop,
                                 .clock = machinery.clock,
                                 .ids = machinery.ids});
}

Core::Core(std::unique_ptr<Machinery> machinery)
    : admission_(std::make_shared<Admission>()),
      live_(std::make_unique<Live>(std::move(machinery))) {}

Core::~Core() {
  if (forked()) {
    // Threads, locks and descriptors are the parent's: nothing of it may run here.
    static_cast<void>(live_.release());
    return;
  }
  if (live_->closer.joinable()) live_->closer.detach();  // only its last lines are left to run
}

Result<std::unique_ptr<client::CallScope>> Core::begin(const CallContext& call) {
  return admission_->begin(call);
}

void Core::deliver(std::function<void()> work) {
  auto scope = begin({});
  if (!scope) {
    work();
    return;
  }
  std::shared_ptr<client::CallScope> kept = *std::move(scope);
  scheduler().post([kept = std::move(kept), work = std::move(work)] { work(); });
}

void Core::complain(std::string_view what) {
  if (!parts().log) return;
  try {
    parts().log->write(LogLevel::kError, what);
  } catch (...) {
    // The sink is the host's too: there is nobody left to tell.
  }
}

void Core::clock_moved() {
  if (forked()) return;
  live_->machinery->loop->clock_moved();
  live_->lanes.clock_moved();
}

Result<void> Core::close(std::chrono::milliseconds timeout) {
  if (forked()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "this process is a child of the one that opened this Cove; only that one closes "
                 "it");
  }
  Live& live = *live_;
  const bool over = is_closed();
  if (!over && on_scheduler()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "close inside one of Cove's callbacks would wait for itself; close on a thread of "
                 "your own");
  }
  COVE_TRY_VOID(start_closing());
  const auto bound = std::clamp(timeout, std::chrono::milliseconds(0), kLongest);
  std::unique_lock lock(live.mutex);
  if (!live.changed.wait_for(lock, bound, [&] { return live.closed; })) {
    return Error(ErrorCode::kTimeout,
                 "something still runs in one of the host's callbacks; Cove is closed behind it");
  }
  if (live.closer.joinable()) live.closer.join();
  return ok();
}

bool Core::is_closed() const {
  const std::lock_guard lock(live_->mutex);
  return live_->closed;
}

Result<void> Core::start_closing() {
  admission_->close();
  Live& live = *live_;
  const std::lock_guard lock(live.mutex);
  if (live.closing) return ok();
  try {
    live.closer =
        base::start_quiet_thread("cove-close", [self = shared_from_this()] { self->take_down(); });
  } catch (const std::exception& e) {
    return Error(ErrorCode::kInternal, std::string("no thread to close Cove with: ") + e.what());
  }
  live.closing = true;
  return ok();
}

void Core::take_down() {
  admission_->wait_idle();
  base::sync_wait(scheduler(), stop_timers(*live_));
  live_->lanes.close_all();
  dismantle(*live_->machinery);
  const std::lock_guard lock(live_->mutex);
  live_->closed = true;
  live_->changed.notify_all();
}

Task<int> Core::stop_timers(Live& live) {
  live.machinery->loop->cancel(std::exchange(live.touch_timer, TimerId::kNone));
  live.machinery->loop->cancel(live.sweep_timer);
  co_return 0;
}

void Core::start_timers() {
  scheduler().post([weak = weak_from_this()] {
    const auto core = weak.lock();
    if (!core) return;
    core->arm_sweep();
  });
}

/// By a timer that is there only while a call is: a process whose workspaces are let go, or
/// forgotten, is left in peace.
void Core::keep_touching() {
  if (live_->touch_timer != TimerId::kNone) return;
  const LifecycleSettings& settings = parts().config.lifecycle;
  const auto shorter = std::min(settings.activity_idle, settings.activity_lease);
  const auto every = std::max(shorter / 3, std::chrono::milliseconds(10));
  live_->touch_timer = scheduler().call_at(clock().now() + every, [weak = weak_from_this()] {
    const auto core = weak.lock();
    if (!core) return;
    core->live_->touch_timer = TimerId::kNone;
    if (core->touch_busy_seats()) core->keep_touching();
  });
}

/// True where there was one.
bool Core::touch_busy_seats() {
  const Instant now = clock().now();
  bool busy = false;
  seats().for_each([&](Seat& seat) {
    // The pass first: a call on a lane was counted before it looked at the pass.
    const bool may_call = seat.pass.is_valid(now);
    const bool calls = seat.calls > 0;
    busy = busy || may_call || calls;
    if (!calls) return;
    // Where it is not held a call brings it up just now, or will find that out.
    if (lifecycle().touch(seat.sandbox)) seat.touched = now;
  });
  return busy;
}

void Core::arm_sweep() {
  const auto every = parts().config.sweep_every;
  if (every.count() == 0) return;
  live_->sweep_timer = scheduler().call_at(clock().now() + every, [weak = weak_from_this()] {
    const auto core = weak.lock();
    if (!core) return;
    auto scope = core->begin({});
    if (scope) base::spawn(core->scheduler(), sweep_once(core, *std::move(scope)));
  });
}

Task<void> Core::sweep_once(std::shared_ptr<Core> core, std::unique_ptr<client::CallScope> scope) {
  try {
    Result<SweepReport> report = co_await core->lifecycle().sweep(scope->context());
    if (!report) core->complain("sweep: " + report.error().describe());
    if (report) {
      for (const std::string& error : report->errors) core->complain("sweep: " + error);
    }
  } catch (...) {
    core->complain("sweep: " + base::caught_text());
  }
  core->arm_sweep();
  scope.reset();
}

}  // namespace cove::runtime

#include "runtime/use/holder.hpp"

#include <utility>

#include "base/async/spawn.hpp"
#include "base/values/caught.hpp"

namespace cove::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kForLeaving = 10s;

/// What other threads of this process say of a workspace is heard so late at most by a call on a
/// lane.
constexpr auto kPass = 250ms;

/// Not ended by close, which waits for it: a lease that stays behind would keep the sandbox in use
/// with nobody there.
Task<void> leave_behind(std::shared_ptr<Core> core, SandboxId sandbox,
                        std::unique_ptr<client::CallScope> scope) {
  try {
    const CallContext call{.deadline = core->clock().now() + kForLeaving, .stop = {}};
    Result<void> left = co_await leave_seat(core, sandbox, call);
    if (!left) core->complain("release of " + sandbox.str() + ": " + left.error().describe());
  } catch (...) {
    core->complain("release of " + sandbox.str() + ": " + base::caught_text());
  }
  scope.reset();
}

struct LetNextIn {
  Seats& seats;
  const SandboxId& sandbox;
  ~LetNextIn() { seats.left(sandbox); }
};

}  // namespace

Task<Result<void>> leave_seat(std::shared_ptr<Core> core, SandboxId sandbox,
                              const CallContext& call) {
  const auto seat = core->seats().find(sandbox);
  if (!core->seats().leave(sandbox)) co_return ok();
  seat->pass.withdraw();
  core->lanes().close(seat->instance);
  const LetNextIn next{core->seats(), sandbox};
  const bool was_acquired = seat->touched != Instant{};
  if (!was_acquired) co_return ok();
  Result<void> released = co_await core->lifecycle().release(sandbox, call);
  // Destroyed meanwhile: there is nothing left to let go of.
  if (!released && released.error().code() == ErrorCode::kNotFound) co_return ok();
  co_return released;
}

/// Counts as a running call of the sandbox.
class Holder::Scope final : public client::CallScope {
 public:
  Scope(std::shared_ptr<Seat> seat, std::unique_ptr<client::CallScope> inner)
      : seat_(std::move(seat)), inner_(std::move(inner)) {
    ++seat_->calls;
  }
  ~Scope() override { --seat_->calls; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const CallContext& context() const override { return inner_->context(); }

 private:
  std::shared_ptr<Seat> seat_;
  std::unique_ptr<client::CallScope> inner_;
};

Holder::Holder(std::shared_ptr<Core> core, std::shared_ptr<Seat> seat, Place place)
    : core_(std::move(core)), seat_(std::move(seat)), place_(std::move(place)) {}

Holder::~Holder() {
  if (released_ || core_->forked()) return;
  auto scope = core_->begin({});
  if (!scope) return;  // closing ends every lease
  base::spawn(core_->scheduler(), leave_behind(core_, seat_->sandbox, *std::move(scope)));
}

Task<Result<void>> Holder::leave(const CallContext& call) {
  if (released_.exchange(true)) {
    co_return Error(ErrorCode::kFailedPrecondition, "the workspace was released before");
  }
  // Copies may live on for long; its skills are in nobody's use any more.
  place_.preparing->skills_held.reset();
  co_return co_await leave_seat(core_, seat_->sandbox, call);
}

Result<void> Holder::release(const CallContext& call) {
  return client::run_blocking(*core_, call, [&](const CallContext& inner) { return leave(inner); });
}

void Holder::release_async(const CallContext& call, std::function<void(Result<void>)> done) {
  client::run_async<void>(
      core_, call,
      [self = shared_from_this()](const CallContext& inner) { return self->leave(inner); },
      std::move(done));
}

Result<std::unique_ptr<client::CallScope>> Holder::begin(const CallContext& call) {
  COVE_TRY(auto scope, core_->begin(call));
  if (released_) {
    return Error(ErrorCode::kFailedPrecondition, "the workspace was released; acquire it again");
  }
  return std::unique_ptr<client::CallScope>(std::make_unique<Scope>(seat_, std::move(scope)));
}

Task<Result<std::shared_ptr<Guest>>> Holder::guest(const CallContext& call) {
  auto reached = co_await keep_up(*core_, *seat_, place_, call);
  if (reached) {
    pass_ = seat_->pass.give({seat_->instance, *reached}, core_->clock().now() + kPass);
  }
  co_return reached;
}

/// A loan, and whom to tell of how it went.
class Holder::OwnLane final : public client::Lane {
 public:
  OwnLane(std::shared_ptr<Holder> holder, std::unique_ptr<Lanes::Loan> loan)
      : holder_(std::move(holder)), loan_(std::move(loan)) {}

  Guest& guest() override { return (*loan_)->guest(); }
  void run(Task<void> task) override { (*loan_)->run(std::move(task)); }
  void note_error(const Error& error) override {
    (*loan_)->settle();
    holder_->deliver([holder = holder_, error] { holder->note_error(error); });
  }

 private:
  const std::shared_ptr<Holder> holder_;
  const std::unique_ptr<Lanes::Loan> loan_;
};

std::unique_ptr<client::Lane> Holder::lane(const CallContext& call) {
  const auto way = seat_->pass.way(pass_, core_->clock().now());
  if (!way) return nullptr;
  auto loan = core_->lanes().borrow(*way, call);
  if (!loan) return nullptr;
  return std::make_unique<OwnLane>(shared_from_this(), std::move(loan));
}

Task<void> Holder::place_skills_again(Guest& guest, const CallContext& call) {
  const prepare::Place where{seat_->instance, guest, {}};
  std::vector<std::string> steps = place_.preparing->steps().skill_steps;
  const Result<void> marked = co_await core_->pipeline().mark_undone(where, std::move(steps), call);
  if (marked) co_return;
  complain("skills of " + sandbox().str() + " are not placed again: " + marked.error().describe());
}

void Holder::note_answer() { seat_->heard = core_->clock().now(); }

void Holder::note_error(const Error& error) {
  if (error.code() == ErrorCode::kUnavailable) seat_->doubt();
  // Somebody inside may have removed the session's directory: the next acquire makes it again.
  if (error.code() != ErrorCode::kNotFound) return;
  seat_->sessions.erase(place_.session);
  seat_->missed.insert(place_.session);
}

}  // namespace cove::runtime

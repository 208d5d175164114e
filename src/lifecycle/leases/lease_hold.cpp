#include "lifecycle/leases/lease_hold.hpp"

#include <algorithm>
#include <utility>

namespace cove::lifecycle {

struct LeaseHold::State : std::enable_shared_from_this<LeaseHold::State> {
  std::shared_ptr<LeaseWorld> world;
  std::string name;
  LeaseHoldId id;
  std::uint64_t token = 0;
  Instant sent{};  // when the newest renewal that arrived was sent
  std::shared_ptr<Gates::Hold> turn;
  std::stop_source lost;
  TimerId timer = TimerId::kNone;
  bool ended = false;     // given back
  bool renewing = false;  // in the background

  std::chrono::milliseconds length() const { return world->parts.length; }
  Instant now() const { return world->parts.clock.now(); }
  Instant ends_at() const { return sent + length() * 2 / 3; }
  bool is_held() const { return !ended && !lost.stop_requested() && now() < ends_at(); }

  Error lost_error() const {
    return Error(ErrorCode::kConflict, "lease '" + name + "' is lost: what ran under it must end");
  }

  void arm();
  void tick();
  void end();
  Task<Result<void>> renew(const CallContext& call);

  static Task<void> renew_beside(std::shared_ptr<State> state);
  static Task<void> give_back_beside(std::shared_ptr<State> state);
};

void LeaseHold::State::arm() {
  const Instant when = std::min<Instant>(now() + length() / 6, ends_at());
  timer = world->parts.scheduler.call_at(when, [weak = weak_from_this()] {
    if (const auto state = weak.lock()) state->tick();
  });
}

void LeaseHold::State::tick() {
  if (ended) return;
  if (!is_held()) {
    lost.request_stop();
    return;
  }
  if (!renewing && now() - sent >= length() / 3) {
    renewing = true;
    world->parts.beside(renew_beside(shared_from_this()));
  }
  arm();
}

void LeaseHold::State::end() {
  ended = true;
  world->parts.scheduler.cancel(timer);
}

Task<Result<void>> LeaseHold::State::renew(const CallContext& call) {
  for (;;) {
    if (!is_held()) co_return lost_error();
    const Instant asked = now();
    COVE_CO_TRY(const StoreTime time, co_await world->store.now(call));
    COVE_CO_TRY(StoredLease known, co_await world->store.load(name, call));
    auto next = lifecycle::renew(known.document, id, time, length());
    if (!next) {
      lost.request_stop();
      co_return next.error();
    }
    const auto replaced = co_await world->store.replace(std::move(known), *std::move(next),
                                                        Durability::kRelaxed, call);
    if (replaced) {
      sent = std::max(sent, asked);
      co_return ok();
    }
    // A ticket came meanwhile; of those there is an end, and of the lease too.
    if (replaced.error().code() != ErrorCode::kConflict) co_return replaced.error();
  }
}

Task<void> LeaseHold::State::renew_beside(std::shared_ptr<State> state) {
  const CallContext call{state->ends_at(), {}};
  // One that fails is tried again at the next tick, until two thirds are over.
  static_cast<void>(co_await state->renew(call));
  state->renewing = false;
}

Task<void> LeaseHold::State::give_back_beside(std::shared_ptr<State> state) {
  const CallContext call{state->now() + state->length(), {}};
  // Where that is not possible it ends by its expiry.
  static_cast<void>(co_await state->world->store.withdraw(state->name, state->id, call));
  state->turn.reset();
}

LeaseHold::LeaseHold(std::shared_ptr<LeaseWorld> world, const LeaseDocument& taken, Instant sent,
                     std::shared_ptr<Gates::Hold> turn)
    : state_(std::make_shared<State>()) {
  state_->world = std::move(world);
  state_->name = taken.name;
  state_->id = taken.holder;
  state_->token = taken.token;
  state_->sent = sent;
  state_->turn = std::move(turn);
  state_->arm();
}

LeaseHold::~LeaseHold() {
  if (state_->ended) return;
  state_->end();
  state_->world->parts.beside(State::give_back_beside(state_));
}

const std::string& LeaseHold::name() const { return state_->name; }
std::uint64_t LeaseHold::token() const { return state_->token; }
bool LeaseHold::held() const { return state_->is_held(); }
std::stop_token LeaseHold::lost() const { return state_->lost.get_token(); }

Task<Result<void>> LeaseHold::renew(const CallContext& call) {
  const auto state = state_;
  co_return co_await state->renew(call);
}

Task<Result<void>> LeaseHold::release(const CallContext& call) {
  const auto state = state_;
  if (state->ended) co_return ok();
  state->end();
  auto given_back = co_await state->world->store.withdraw(state->name, state->id, call);
  state->turn.reset();
  co_return given_back;
}

}  // namespace cove::lifecycle

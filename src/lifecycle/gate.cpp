#include "lifecycle/gate.hpp"

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/async/completion.hpp"

namespace cove::lifecycle {

namespace {
using Turn = base::Completion<Result<void>>;
}

struct Gates::State {
  struct Gate {
    std::deque<std::shared_ptr<Turn>> waiting;
    std::array<std::size_t, 3> wanted{};  // by Urgency
    std::function<void(Urgency)> call_off;
  };

  explicit State(Scheduler& used) : scheduler(used) {}

  void leave(const std::string& name) {
    const auto found = gates.find(name);
    found->second->call_off = nullptr;
    auto& waiting = found->second->waiting;
    while (!waiting.empty()) {
      const auto turn = std::move(waiting.front());
      waiting.pop_front();
      if (turn->complete(ok())) return;  // else it had stopped waiting
    }
    gates.erase(found);
  }

  Scheduler& scheduler;
  std::unordered_map<std::string, std::shared_ptr<Gate>> gates;  // an entry = somebody is in
};

Gates::Gates(Scheduler& scheduler) : state_(std::make_shared<State>(scheduler)) {}

std::shared_ptr<Gates::Hold> Gates::try_enter(const std::string& name) {
  if (state_->gates.contains(name)) return nullptr;
  state_->gates.emplace(name, std::make_shared<State::Gate>());
  return std::make_shared<Hold>(state_, name);
}

Task<Result<std::shared_ptr<Gates::Hold>>> Gates::enter(std::string name, Urgency urgency,
                                                        const CallContext& call) {
  auto hold = try_enter(name);
  if (hold) co_return hold;
  const auto state = state_;
  const auto gate = state->gates.at(name);
  const auto turn = Turn::make(state->scheduler);
  const auto rank = static_cast<std::size_t>(urgency);
  gate->waiting.push_back(turn);
  ++gate->wanted[rank];
  const auto call_off = gate->call_off;  // a copy: it may end what holds it
  if (call_off && urgency != Urgency::kCanWait) call_off(urgency);
  const Result<void> entered = co_await base::wait_bounded<void>(turn, state->scheduler, call);
  --gate->wanted[rank];
  if (!entered) {
    std::erase(gate->waiting, turn);
    co_return entered.error().with_context("waited for", "this process's own work on it");
  }
  hold = std::make_shared<Hold>(state, std::move(name));
  co_return hold;
}

Gates::Hold::Hold(std::shared_ptr<State> state, std::string name)
    : state_(std::move(state)), name_(std::move(name)) {}

Gates::Hold::~Hold() { state_->leave(name_); }

bool Gates::Hold::is_wanted(Urgency urgency) const {
  const auto& wanted = state_->gates.at(name_)->wanted;
  for (auto rank = static_cast<std::size_t>(urgency); rank < wanted.size(); ++rank) {
    if (wanted[rank] > 0) return true;
  }
  return false;
}

void Gates::Hold::on_wanted(std::function<void(Urgency)> call_off) {
  state_->gates.at(name_)->call_off = std::move(call_off);
}

}  // namespace cove::lifecycle

/// Turns: who of this process prepares a sandbox now; the others wait in the order they came.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include <cove/call_context.hpp>
#include <cove/ids.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"

namespace cove::prepare {

/// On the scheduler only; outlives all turns.
class Turns {
 public:
  explicit Turns(Scheduler& scheduler) : scheduler_(scheduler) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// One's turn, until it is destroyed.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : turns_(std::exchange(other.turns_, nullptr)), sandbox_(std::move(other.sandbox_)) {}
    ~Turn() {
      if (turns_ != nullptr) turns_->pass_on(sandbox_);
    }
    Turn& operator=(Turn&&) = delete;

   private:
    friend class Turns;
    Turn(Turns& turns, SandboxId sandbox) : turns_(&turns), sandbox_(std::move(sandbox)) {}
    Turns* turns_;
    SandboxId sandbox_;
  };

  bool is_taken(const SandboxId& sandbox) const { return lines_.contains(sandbox); }

  /// Waits for one's turn. kTimeout, kCancelled: the call ended before; nothing is taken.
  Task<Result<Turn>> take(SandboxId sandbox, const CallContext& call);

 private:
  using Place = std::shared_ptr<base::Completion<Result<void>>>;

  void pass_on(const SandboxId& sandbox);

  Scheduler& scheduler_;
  std::map<SandboxId, std::deque<Place>> lines_;  // there = somebody has the turn
};

}  // namespace cove::prepare

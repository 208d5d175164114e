/// Seats: the sandboxes that this process holds, and what it knows of each.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <cove/provider.hpp>
#include <cove/scheduler.hpp>

#include "base/async/completion.hpp"
#include "runtime/use/lanes.hpp"

namespace cove::runtime {

/// One held sandbox. On the scheduler only, but for `calls` and `pass`.
struct Seat {
  explicit Seat(SandboxId id) : sandbox(std::move(id)) {}

  const SandboxId sandbox;
  InstanceRef instance;
  std::string provider;            ///< that has `instance`
  std::weak_ptr<Guest> guest;      ///< the connection that `heard` is about
  Instant heard{};                 ///< when the guest last answered
  Instant touched{};               ///< when the lifecycle was last told of a call
  std::set<std::string> sessions;  ///< directories made on `instance`
  std::set<std::string> missed;    ///< directories that a call may not have found
  std::size_t holders = 0;
  std::atomic<std::size_t> calls{0};  ///< that run now
  Pass pass;                          ///< for calls that need not come here

  /// Notes which instance runs now; what was known of another one is forgotten.
  void move_to(const InstanceRef& now_running, const std::string& its_provider) {
    if (instance == now_running) return;
    instance = now_running;
    provider = its_provider;
    sessions.clear();
    missed.clear();
    doubt();
  }

  /// The next use asks the guest whether it lives.
  void doubt() {
    guest.reset();
    heard = {};
    pass.withdraw();
  }
};

/// On the scheduler only.
class Seats {
 public:
  explicit Seats(Scheduler& scheduler) : scheduler_(scheduler) {}

  /// Takes a share of a sandbox's seat; waits where this process is just giving it up.
  Task<Result<std::shared_ptr<Seat>>> take(SandboxId sandbox, const CallContext& call) {
    for (;;) {
      const auto leaving = leaving_.find(sandbox);
      if (leaving == leaving_.end()) break;
      auto gone = base::Completion<Result<void>>::make(scheduler_);
      leaving->second.push_back(gone);
      COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(gone, scheduler_, call));
    }
    auto& seat = seats_[sandbox];
    if (!seat) seat = std::make_shared<Seat>(sandbox);
    ++seat->holders;
    co_return seat;
  }

  /// Gives a share back. True where it was the last: the caller then ends the lease and calls
  /// `left`.
  bool leave(const SandboxId& sandbox) {
    const auto found = seats_.find(sandbox);
    if (found == seats_.end() || --found->second->holders > 0) return false;
    seats_.erase(found);
    leaving_[sandbox];
    return true;
  }
  void left(const SandboxId& sandbox) {
    auto waiting = leaving_.extract(sandbox);
    if (waiting.empty()) return;
    for (const auto& one : waiting.mapped()) one->complete(ok());
  }

  std::shared_ptr<Seat> find(const SandboxId& sandbox) const {
    const auto found = seats_.find(sandbox);
    return found == seats_.end() ? nullptr : found->second;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [sandbox, seat] : seats_) visit(*seat);
  }

 private:
  using Waiters = std::vector<std::shared_ptr<base::Completion<Result<void>>>>;

  Scheduler& scheduler_;
  std::unordered_map<SandboxId, std::shared_ptr<Seat>> seats_;
  std::unordered_map<SandboxId, Waiters> leaving_;
};

}  // namespace cove::runtime

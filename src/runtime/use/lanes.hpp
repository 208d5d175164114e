/// Lanes: the connections that blocking calls drive by themselves, so that no other thread has to
/// wake up for them; and the passes that allow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include <cove/clock.hpp>
#include <cove/provider.hpp>

#include "guest/lane.hpp"

namespace cove::runtime {

/// Says of one sandbox that calls may go straight to its guest. Given on the scheduler, after all
/// that a call has to look at was looked at; looked at by any thread. It is short: what is said on
/// the scheduler (activity, a stop that drains) is heard again with the next call after it.
class Pass {
 public:
  struct Way {
    InstanceRef instance;
    std::shared_ptr<Guest> guest;
  };

  /// Lets calls go to `way` until then. Returns what a holder shows.
  std::uint64_t give(Way way, Instant until);

  /// Ends it; also for all who were shown in before.
  void withdraw();

  /// None: it is over, or not for this holder.
  std::optional<Way> way(std::uint64_t shown, Instant now) const;

  bool is_valid(Instant now) const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t number_ = 1;
  std::optional<Way> way_;
  Instant until_{};
};

/// From any thread.
class Lanes {
 public:
  /// A lane that is in use; given back when it is destroyed.
  class Loan {
   public:
    Loan(Lanes& lanes, InstanceRef instance, std::unique_ptr<guest::Lane> lane)
        : lanes_(lanes), instance_(std::move(instance)), lane_(std::move(lane)) {}
    ~Loan() { lanes_.give_back(std::move(instance_), std::move(lane_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    guest::Lane* operator->() const noexcept { return lane_.get(); }
    guest::Lane& operator*() const noexcept { return *lane_; }

   private:
    Lanes& lanes_;
    InstanceRef instance_;
    std::unique_ptr<guest::Lane> lane_;
  };

  /// A lane that is good for a call; null: there can be none now, and the call goes by the
  /// scheduler.
  std::unique_ptr<Loan> borrow(const Pass::Way& way, const CallContext& call);

  /// Closes those of an instance that nobody uses, when it is let go.
  void close(const InstanceRef& instance);
  void close_all();

  /// See Cove::clock_moved: calls that run have deadlines too.
  void clock_moved();

 private:
  struct Idle {
    InstanceRef instance;
    std::unique_ptr<guest::Lane> lane;
  };

  std::unique_ptr<Loan> lend(const InstanceRef& instance, std::unique_ptr<guest::Lane> lane);
  void give_back(InstanceRef instance, std::unique_ptr<guest::Lane> lane);
  std::unique_ptr<guest::Lane> take_idle(const InstanceRef& instance);
  bool make_room();

  std::mutex mutex_;
  std::list<Idle> idle_;  ///< guarded by mutex_, as the next; the last used first
  std::set<guest::Lane*> lent_;
  std::size_t lanes_ = 0;
};

}  // namespace cove::runtime

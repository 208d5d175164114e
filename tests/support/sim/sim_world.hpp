/// A world in one thread, ordered by a seed: its time, its hosts, and what goes wrong in it.
///
///     SimWorld world(seed);
///     SimHost& host = world.add_host("m1");
///     base::spawn(host, task);
///     world.run_until([&] { return done; });
///
/// A host is one process: a scheduler, a clock and an owner. When it crashes, nothing of it runs
/// again; what it had sent may still happen. Latencies, the order between hosts, pauses and faults
/// come from the seed alone, so a run can be repeated.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <cove/clock.hpp>
#include <cove/id_source.hpp>
#include <cove/lifecycle.hpp>
#include <cove/scheduler.hpp>

#include "base/async/completion.hpp"
#include "support/sim/sim_faults.hpp"

namespace cove::testing {

class SimWorld;

/// Keeps what a crashed host leaves, for the rest of the program: its coroutines are never resumed
/// and must not be destroyed, and a leak checker has to find them.
void bury(std::shared_ptr<void> remains);

/// One process on one machine.
class SimHost final : public Scheduler, public Clock, public OwnerRegistry, public IdSource {
 public:
  SimHost(SimWorld& world, std::string machine, std::size_t number);

  void post(std::function<void()> work) override;
  TimerId call_at(Instant when, std::function<void()> work) override;
  void cancel(TimerId timer) override;
  Instant now() const override;
  OwnerId self() const override { return owner_; }
  bool certainly_dead(const OwnerId& owner) const override;
  void fill(std::span<std::byte> bytes) override;

  void crash();
  bool alive() const { return alive_; }

  /// How many timers it waits for.
  std::size_t timers() const { return timers_.size(); }

  /// When it died, in the world's time. REQUIRES: it is not alive.
  Instant died_at() const { return died_at_; }
  const std::string& machine() const { return machine_; }
  SimWorld& world() { return world_; }

  /// False: it cannot tell from owner files who is dead, as if they were on another machine.
  bool knows_deaths = true;

  /// Crashes before it runs its n-th piece of work from now on; 0 = never.
  void crash_after(std::uint64_t n) { crash_at_ = n == 0 ? 0 : steps_ + n; }

  /// Runs nothing until then, by the world's time: a suspended machine, a stopped process.
  void pause_until(Instant when) { paused_until_ = when; }

  /// The host's clock jumps ahead, and runs at so many thousandths of the right speed from now on.
  void set_clock(Duration jump, std::int64_t speed);

 private:
  friend class SimWorld;
  bool is_ready() const;
  void run_one();

  SimWorld& world_;
  std::size_t number_;
  std::string machine_;
  OwnerId owner_;
  bool alive_ = true;
  Instant died_at_{};
  std::map<std::string, std::uint64_t> calls_;  // how many of each name
  std::deque<std::function<void()>> ready_;
  std::set<std::uint64_t> timers_;
  std::uint64_t steps_ = 0;
  std::uint64_t crash_at_ = 0;
  Instant paused_until_{};
  Instant set_at_{};           // the world's time when the clock was set
  Instant set_to_{};           // what it showed then
  std::int64_t speed_ = 1000;  // thousandths
};

class SimWorld {
 public:
  explicit SimWorld(std::uint64_t seed);
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  SimHost& add_host(const std::string& machine);

  /// True while a process with this owner lives, on whatever machine.
  const SimHost* find_host(const OwnerId& owner) const;

  Instant now() const { return now_; }
  StoreTime store_time() const { return store_time_at(now_); }
  StoreTime store_time_at(Instant when) const;
  std::uint64_t random(std::uint64_t below);

  /// Runs `work` later, whatever becomes of any host.
  void after(Duration delay, std::function<void()> work);

  /// Runs until `done`; false where nothing is left to run or it takes too long.
  bool run_until(const std::function<bool()>& done);

  /// Lets time pass.
  void run_for(Duration length);

  /// Crashes the host that reaches `name` for the n-th time.
  void crash_at(std::string name, int nth = 1);
  /// The same where the store forgets what was not durable, and its hosts go on.
  void forget_at(std::string name, int nth = 1);
  /// Names of places that were reached, in order, while recording.
  void record_points(bool on) { records_points_ = on; }
  const std::vector<std::string>& points() const { return points_; }
  /// A host is at a place with a name, `:before` or `:after`.
  void point(SimHost& host, const std::string& name, const char* side);

  /// True where somebody wants to know the places' whole names.
  bool names_places() const { return records_points_ || crash_count_ > 0 || tells_; }

  /// Keeps what happens as lines of text, for people.
  void tell_from_now_on() { tells_ = true; }
  bool tells() const { return tells_; }
  void tell(const std::string& what);
  const std::vector<std::string>& history() const { return history_; }

  /// How many calls had their effect.
  std::uint64_t effects() const { return effects_; }

  /// What must never be, and was.
  void violation(const std::string& what);
  const std::vector<std::string>& violations() const { return violations_; }

  SimFaults faults;

  /// Told after every effect of a call.
  std::function<void()> on_effect;
  /// A machine loses power; an empty name: only the store's.
  std::function<void(const std::string& machine)> on_power_loss;

  // What remote() is made of.

  /// What goes wrong at the host's next call; the host's own part of it is done.
  SimFault next_fault(SimHost& host, const std::string& name);
  /// How long a call takes, one way.
  Duration latency(const SimFault& fault, bool there);
  /// What comes from outside before and after the effect. `spoils` is asked by uploads.
  void strike(SimHost& host, const SimFault& fault, bool after);
  void begin_effect(const SimFault& fault, bool again);
  void end_effect();
  bool spoils() const { return spoils_; }
  /// True while the effect is that of a call that came twice.
  bool comes_again() const { return comes_again_; }

 private:
  friend class SimHost;
  bool step();

  std::mt19937_64 random_;
  Instant now_{std::chrono::hours(1)};
  std::uint64_t next_id_ = 1;
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> events_;
  std::vector<std::shared_ptr<SimHost>> hosts_;
  std::vector<SimHost*> living_;  // and those that died since `somebody_died_`
  bool somebody_died_ = false;
  std::vector<SimHost*> ready_;  // of one step
  std::uint64_t effects_ = 0;
  bool spoils_ = false;
  bool comes_again_ = false;
  bool tells_ = false;
  std::vector<std::string> history_;
  std::string crash_point_;
  int crash_count_ = 0;
  bool crashes_store_ = false;
  bool records_points_ = false;
  std::vector<std::string> points_;
  std::vector<std::string> violations_;
};

/// Does something outside the host: after a latency the effect happens, after another the reply
/// comes back. Places: `<name>:before` (a crash there means that nothing happened) and
/// `<name>:after` (it happened and nobody heard).
template <class T>
Task<Result<T>> remote(SimHost& host, std::string name, std::function<Result<T>()> effect,
                       const CallContext& call) {
  using Reply = base::Completion<Result<T>>;
  SimWorld& world = host.world();
  const auto reply = Reply::make(host);
  if (!host.alive()) bury(reply);
  const SimFault fault = world.next_fault(host, name);
  const Duration going = world.latency(fault, true);
  const Duration coming = world.latency(fault, false);
  if (host.alive()) {
    world.after(going, [=, &host, &world] {
      // What a process had sent before it died may arrive, or not.
      if (!host.alive() && world.random(2) == 0) return bury(reply);
      const bool was_alive = host.alive();
      world.point(host, name, ":before");
      world.strike(host, fault, false);
      if (was_alive && !host.alive()) return bury(reply);
      Result<T> result = Error(ErrorCode::kUnavailable, name + ": no answer");
      if (fault.kind != SimFaultKind::kLostRequest) {
        world.begin_effect(fault, false);
        auto done = effect();
        world.end_effect();
        if (fault.kind != SimFaultKind::kLostReply) result = std::move(done);
        world.point(host, name, ":after");
        world.strike(host, fault, true);
      }
      if (fault.kind == SimFaultKind::kRepeated) {
        world.after(std::chrono::milliseconds(fault.amount % 5000), [effect, &world] {
          world.begin_effect(SimFault{}, true);
          (void)effect();
          world.end_effect();
        });
      }
      world.after(coming, [reply, result] { reply->complete(result); });
    });
  }
  co_return co_await base::wait_bounded<T>(reply, host, call);
}

}  // namespace cove::testing

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

namespace cove::testing {

class SimWorld;

/// Keeps what a crashed host leaves, for the rest of the program: its coroutines are never resumed
/// and must not be destroyed, and a leak checker has to find them.
void bury(std::shared_ptr<void> remains);

/// One process on one machine.
class SimHost final : public Scheduler, public Clock, public OwnerRegistry, public IdSource {
 public:
  SimHost(SimWorld& world, std::string machine, std::string name);

  void post(std::function<void()> work) override;
  TimerId call_at(Instant when, std::function<void()> work) override;
  void cancel(TimerId timer) override;
  Instant now() const override;
  OwnerId self() const override { return owner_; }
  bool certainly_dead(const OwnerId& owner) const override;
  void fill(std::span<std::byte> bytes) override;

  void crash();
  bool alive() const { return alive_; }
  const std::string& machine() const { return machine_; }
  SimWorld& world() { return world_; }

  /// False: it cannot tell from owner files who is dead, as if they were on another machine.
  bool knows_deaths = true;

  /// Crashes before it runs its n-th piece of work from now on; 0 = never.
  void crash_after(std::uint64_t n) { crash_at_ = n == 0 ? 0 : steps_ + n; }

  /// Runs nothing until then: a suspended machine, a process that was stopped.
  void pause_until(Instant when) { paused_until_ = when; }

 private:
  friend class SimWorld;
  bool is_ready() const;
  void run_one();

  SimWorld& world_;
  std::string machine_;
  OwnerId owner_;
  bool alive_ = true;
  std::deque<std::function<void()>> ready_;
  std::set<std::uint64_t> timers_;
  std::uint64_t steps_ = 0;
  std::uint64_t crash_at_ = 0;
  Instant paused_until_{};
};

/// How often what goes wrong, in thousandths.
struct SimFaults {
  std::uint32_t lost_request = 0;  ///< it never arrived; kUnavailable
  std::uint32_t lost_reply = 0;    ///< it was done; kUnavailable
  std::uint32_t slow = 0;          ///< takes up to 45 s
  std::uint32_t pause = 0;         ///< the host stands still for up to 90 s
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
  StoreTime store_time() const;
  std::uint64_t random(std::uint64_t below);
  bool happens(std::uint32_t thousandths) { return random(1000) < thousandths; }

  /// Runs `work` later, whatever becomes of any host.
  void after(Duration delay, std::function<void()> work);

  /// Runs until `done`; false where nothing is left to run or it takes too long.
  bool run_until(const std::function<bool()>& done);

  /// Lets time pass.
  void run_for(Duration length);

  /// Crashes the host that reaches `name` for the n-th time.
  void crash_at(std::string name, int nth = 1);
  /// Names of places that were reached, in order, while recording.
  void record_points(bool on) { records_points_ = on; }
  const std::vector<std::string>& points() const { return points_; }
  /// A host is at a place with a name.
  void point(SimHost& host, const std::string& name);

  /// What must never be, and was.
  void violation(const std::string& what);
  const std::vector<std::string>& violations() const { return violations_; }

  SimFaults faults;

 private:
  friend class SimHost;
  bool step();

  std::mt19937_64 random_;
  Instant now_{std::chrono::hours(1)};
  std::uint64_t next_id_ = 1;
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> events_;
  std::vector<std::shared_ptr<SimHost>> hosts_;
  std::string crash_point_;
  int crash_count_ = 0;
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
  const auto latency = [&world] {
    const bool slow = world.happens(world.faults.slow);
    return std::chrono::microseconds(slow ? world.random(45'000'000) : 50 + world.random(3000));
  };
  if (world.happens(world.faults.pause)) {
    host.pause_until(world.now() + std::chrono::milliseconds(world.random(90'000)));
  }
  const Duration going = latency();
  const Duration coming = latency();
  const bool request_lost = world.happens(world.faults.lost_request);
  const bool reply_lost = world.happens(world.faults.lost_reply);
  if (host.alive()) {
    world.after(going, [=, &host, &world] {
      // What a process had sent before it died may arrive, or not.
      if (!host.alive() && world.random(2) == 0) return bury(reply);
      const bool was_alive = host.alive();
      world.point(host, name + ":before");
      if (was_alive && !host.alive()) return bury(reply);
      Result<T> result = Error(ErrorCode::kUnavailable, name + ": no answer");
      if (!request_lost) {
        auto done = effect();
        if (!reply_lost) result = std::move(done);
        world.point(host, name + ":after");
      }
      world.after(coming, [reply, result] { reply->complete(result); });
    });
  }
  co_return co_await base::wait_bounded<T>(reply, host, call);
}

}  // namespace cove::testing

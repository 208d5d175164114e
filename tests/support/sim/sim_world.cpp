#include "support/sim/sim_world.hpp"

#include <algorithm>
#include <utility>

namespace cove::testing {
namespace {

using namespace std::chrono_literals;

// A run that takes more has come to no end.
constexpr std::uint64_t kMaxSteps = 3'000'000;

/// A time by a clock of another speed; divided first, since a product of months is too large.
Duration scaled(Duration time, std::int64_t numerator, std::int64_t denominator) {
  if (numerator == denominator) return time;
  const std::int64_t whole = time.count() / denominator;
  const std::int64_t rest = time.count() % denominator;
  return Duration(whole * numerator + rest * numerator / denominator);
}

template <class T>
std::shared_ptr<void> shared(T&& value) {
  return std::make_shared<std::decay_t<T>>(std::forward<T>(value));
}

}  // namespace

void bury(std::shared_ptr<void> remains) {
  static auto* graveyard = new std::vector<std::shared_ptr<void>>;
  graveyard->push_back(std::move(remains));
}

SimHost::SimHost(SimWorld& world, std::string machine, std::size_t number)
    : world_(world),
      number_(number),
      machine_(std::move(machine)),
      owner_(machine_ + "/process" + std::to_string(number)),
      set_at_(world.now()),
      set_to_(world.now()) {}

void SimHost::post(std::function<void()> work) {
  if (!alive_) return bury(shared(std::move(work)));
  ready_.push_back(std::move(work));
}

TimerId SimHost::call_at(Instant when, std::function<void()> work) {
  const std::uint64_t id = world_.next_id_++;
  if (!alive_) {
    bury(shared(std::move(work)));
    return TimerId(id);
  }
  timers_.insert(id);
  const Duration delay = scaled(std::max<Duration>(when - now(), 0ns), 1000, speed_);
  world_.after(delay, [this, id, work = std::move(work)] {
    if (!alive_) return bury(shared(work));
    if (!timers_.contains(id)) return;
    ready_.push_back([this, id, work] {
      if (timers_.erase(id) > 0) work();
    });
  });
  return TimerId(id);
}

void SimHost::cancel(TimerId timer) { timers_.erase(static_cast<std::uint64_t>(timer)); }

Instant SimHost::now() const { return set_to_ + scaled(world_.now() - set_at_, speed_, 1000); }

void SimHost::set_clock(Duration jump, std::int64_t speed) {
  set_to_ = now() + jump;
  set_at_ = world_.now();
  speed_ = speed;
}

bool SimHost::certainly_dead(const OwnerId& owner) const {
  const SimHost* host = world_.find_host(owner);
  return knows_deaths && host != nullptr && host->machine_ == machine_ && !host->alive_;
}

void SimHost::fill(std::span<std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 8 == 0) number = world_.random_();
    bytes[i] = static_cast<std::byte>(number >> (8 * (i % 8)));
  }
}

void SimHost::crash() {
  if (!alive_) return;
  alive_ = false;
  died_at_ = world_.now();
  world_.somebody_died_ = true;
  bury(shared(std::exchange(ready_, {})));
  if (world_.tells()) world_.tell(owner_.str() + " dies");
}

bool SimHost::is_ready() const {
  return alive_ && !ready_.empty() && paused_until_ <= world_.now();
}

void SimHost::run_one() {
  ++steps_;
  if (steps_ == crash_at_) return crash();
  const auto work = std::move(ready_.front());
  ready_.pop_front();
  work();
}

SimWorld::SimWorld(std::uint64_t seed) : random_(seed) {}

SimWorld::~SimWorld() {
  for (const auto& host : hosts_) {
    host->crash();
    bury(host);
  }
  bury(shared(std::move(events_)));
}

SimHost& SimWorld::add_host(const std::string& machine) {
  hosts_.push_back(std::make_shared<SimHost>(*this, machine, hosts_.size()));
  living_.push_back(hosts_.back().get());
  return *hosts_.back();
}

const SimHost* SimWorld::find_host(const OwnerId& owner) const {
  for (const auto& host : hosts_) {
    if (host->self() == owner) return host.get();
  }
  return nullptr;
}

StoreTime SimWorld::store_time_at(Instant when) const {
  return StoreTime(std::chrono::hours(24 * 365 * 50) +
                   std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch()));
}

std::uint64_t SimWorld::random(std::uint64_t below) { return below == 0 ? 0 : random_() % below; }

void SimWorld::after(Duration delay, std::function<void()> work) {
  events_.emplace(std::pair(now_ + delay, next_id_++), std::move(work));
}

bool SimWorld::step() {
  ready_.clear();
  if (std::exchange(somebody_died_, false)) {
    std::erase_if(living_, [](const SimHost* host) { return !host->alive_; });
  }
  Instant wakes = Instant::max();
  for (SimHost* host : living_) {
    if (host->is_ready()) ready_.push_back(host);
    if (!host->ready_.empty()) wakes = std::min(wakes, host->paused_until_);
  }
  const bool due = !events_.empty() && events_.begin()->first.first <= now_;
  if (ready_.empty() && !due) {
    const Instant next = events_.empty() ? wakes : std::min(wakes, events_.begin()->first.first);
    if (next == Instant::max()) return false;
    now_ = std::max(now_, next);
    return true;
  }
  const std::uint64_t choice = random(ready_.size() + (due ? 1 : 0));
  if (choice < ready_.size()) {
    ready_[choice]->run_one();
    return true;
  }
  const auto work = std::move(events_.begin()->second);
  events_.erase(events_.begin());
  work();
  return true;
}

bool SimWorld::run_until(const std::function<bool()>& done) {
  for (std::uint64_t i = 0; i < kMaxSteps; ++i) {
    if (done()) return true;
    if (!step()) return done();
  }
  violation("the run comes to no end");
  return false;
}

void SimWorld::run_for(Duration length) {
  // Shared: the event may outlive this call where the run comes to no end.
  const auto over = std::make_shared<bool>(false);
  after(length, [over] { *over = true; });
  run_until([over] { return *over; });
}

void SimWorld::crash_at(std::string name, int nth) {
  crash_point_ = std::move(name);
  crash_count_ = nth;
  crashes_store_ = false;
}

void SimWorld::forget_at(std::string name, int nth) {
  crash_at(std::move(name), nth);
  crashes_store_ = true;
}

void SimWorld::point(SimHost& host, const std::string& name, const char* side) {
  if (!records_points_ && crash_count_ == 0) return;
  const std::string place = name + side;
  if (records_points_ && host.alive()) points_.push_back(place);
  if (!host.alive() || crash_count_ == 0 || place != crash_point_) return;
  if (--crash_count_ > 0) return;
  if (crashes_store_) return on_power_loss({});
  host.crash();
}

SimFault SimWorld::next_fault(SimHost& host, const std::string& name) {
  // Without the details that it has only where somebody wants to know them.
  const std::string plain = name.substr(0, name.find(' '));
  const SimFault fault = faults.at(host.number_, plain, ++host.calls_[plain]);
  if (fault.kind == SimFaultKind::kNone) return fault;
  if (tells_) tell(host.owner_.str() + ": " + std::string(name_of(fault.kind)) + " at " + name);
  if (fault.kind == SimFaultKind::kPause) {
    host.pause_until(now_ + std::chrono::milliseconds(fault.amount % 90'000));
  } else if (fault.kind == SimFaultKind::kCrashSoon) {
    host.crash_after(1 + fault.amount % 20);
  } else if (fault.kind == SimFaultKind::kSkew) {
    const std::int64_t speed = 500 + fault.amount % 1500;
    host.set_clock(std::chrono::milliseconds((fault.amount >> 16U) % 60'000), speed);
  }
  return fault;
}

Duration SimWorld::latency(const SimFault& fault, bool there) {
  const auto usual = std::chrono::microseconds(50 + random(3000));
  const bool slow = fault.kind == SimFaultKind::kSlow && (fault.amount % 2 == 0) == there;
  if (!slow) return usual;
  return usual + std::chrono::milliseconds((fault.amount >> 1U) % 45'000);
}

void SimWorld::strike(SimHost& host, const SimFault& fault, bool after) {
  using enum SimFaultKind;
  if (fault.kind == (after ? kCrashAfter : kCrashBefore)) host.crash();
  if (fault.kind == (after ? kPowerAfter : kPowerBefore) && on_power_loss) {
    on_power_loss(host.machine());
  }
  if (after && fault.kind == kStoreCrash && on_power_loss) on_power_loss({});
}

void SimWorld::begin_effect(const SimFault& fault, bool again) {
  spoils_ = fault.kind == SimFaultKind::kSpoiled;
  comes_again_ = again;
}

void SimWorld::end_effect() {
  spoils_ = false;
  comes_again_ = false;
  ++effects_;
  if (on_effect) on_effect();
}

void SimWorld::tell(const std::string& what) {
  if (!tells_) return;
  const auto passed = now_.time_since_epoch() - std::chrono::hours(1);
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(passed).count();
  std::string time = std::to_string(whole / 1000) + ".";
  const std::string thousandths = std::to_string(1000 + whole % 1000);
  time += thousandths.substr(1);
  history_.push_back(std::string(time.size() < 12 ? 12 - time.size() : 0, ' ') + time + " s  " +
                     what);
}

void SimWorld::violation(const std::string& what) {
  if (std::find(violations_.begin(), violations_.end(), what) != violations_.end()) return;
  violations_.push_back(what);
  if (tells_) tell("WRONG: " + what);
}

}  // namespace cove::testing

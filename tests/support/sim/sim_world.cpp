#include "support/sim/sim_world.hpp"

#include <algorithm>
#include <utility>

namespace cove::testing {
namespace {

using namespace std::chrono_literals;

// A run that takes more has come to no end.
constexpr std::uint64_t kMaxSteps = 3'000'000;

template <class T>
std::shared_ptr<void> shared(T&& value) {
  return std::make_shared<std::decay_t<T>>(std::forward<T>(value));
}

}  // namespace

void bury(std::shared_ptr<void> remains) {
  static auto* graveyard = new std::vector<std::shared_ptr<void>>;
  graveyard->push_back(std::move(remains));
}

SimHost::SimHost(SimWorld& world, std::string machine, std::string name)
    : world_(world), machine_(std::move(machine)), owner_(machine_ + "/" + std::move(name)) {}

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
  const Duration delay = std::max<Duration>(when - world_.now(), 0ns);
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

Instant SimHost::now() const { return world_.now(); }

bool SimHost::certainly_dead(const OwnerId& owner) const {
  const SimHost* host = world_.find_host(owner);
  return knows_deaths && host != nullptr && host->machine_ == machine_ && !host->alive_;
}

void SimHost::fill(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(world_.random(256));
}

void SimHost::crash() {
  if (!alive_) return;
  alive_ = false;
  bury(shared(std::exchange(ready_, {})));
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
  hosts_.push_back(
      std::make_shared<SimHost>(*this, machine, "process" + std::to_string(hosts_.size())));
  return *hosts_.back();
}

const SimHost* SimWorld::find_host(const OwnerId& owner) const {
  for (const auto& host : hosts_) {
    if (host->self() == owner) return host.get();
  }
  return nullptr;
}

StoreTime SimWorld::store_time() const {
  return StoreTime(std::chrono::hours(24 * 365 * 50) +
                   std::chrono::floor<std::chrono::milliseconds>(now_.time_since_epoch()));
}

std::uint64_t SimWorld::random(std::uint64_t below) { return below == 0 ? 0 : random_() % below; }

void SimWorld::after(Duration delay, std::function<void()> work) {
  events_.emplace(std::pair(now_ + delay, next_id_++), std::move(work));
}

bool SimWorld::step() {
  std::vector<SimHost*> ready;
  Instant wakes = Instant::max();
  for (const auto& host : hosts_) {
    if (host->is_ready()) ready.push_back(host.get());
    if (host->alive_ && !host->ready_.empty()) wakes = std::min(wakes, host->paused_until_);
  }
  const bool due = !events_.empty() && events_.begin()->first.first <= now_;
  if (ready.empty() && !due) {
    const Instant next = events_.empty() ? wakes : std::min(wakes, events_.begin()->first.first);
    if (next == Instant::max()) return false;
    now_ = std::max(now_, next);
    return true;
  }
  const std::uint64_t choice = random(ready.size() + (due ? 1 : 0));
  if (choice < ready.size()) {
    ready[choice]->run_one();
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
  bool over = false;
  after(length, [&over] { over = true; });
  run_until([&over] { return over; });
}

void SimWorld::crash_at(std::string name, int nth) {
  crash_point_ = std::move(name);
  crash_count_ = nth;
}

void SimWorld::point(SimHost& host, const std::string& name) {
  if (records_points_ && host.alive()) points_.push_back(name);
  if (!host.alive() || crash_count_ == 0 || name != crash_point_) return;
  if (--crash_count_ == 0) host.crash();
}

void SimWorld::violation(const std::string& what) { violations_.push_back(what); }

}  // namespace cove::testing

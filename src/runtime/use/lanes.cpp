#include "runtime/use/lanes.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <sys/resource.h>

namespace cove::runtime {
namespace {

/// Each has four descriptors. A host that blocks in more calls at once shares the common connection
/// for the others.
constexpr std::size_t kMostLanes = 8;

/// Of so many descriptors that a host may have, one lane's: the others are for what has no other
/// way.
constexpr rlim_t kDescriptorsPerLane = 64;

std::size_t most_lanes() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostLanes;
  return std::min<rlim_t>(kMostLanes, limit.rlim_cur / kDescriptorsPerLane);
}

}  // namespace

std::uint64_t Pass::give(Way way, Instant until) {
  const std::lock_guard lock(mutex_);
  way_ = std::move(way);
  until_ = until;
  return number_;
}

void Pass::withdraw() {
  const std::lock_guard lock(mutex_);
  ++number_;
  way_.reset();
}

std::optional<Pass::Way> Pass::way(std::uint64_t shown, Instant now) const {
  const std::lock_guard lock(mutex_);
  if (!way_ || shown != number_ || now >= until_) return std::nullopt;
  return way_;
}

bool Pass::is_valid(Instant now) const {
  const std::lock_guard lock(mutex_);
  return way_ && now < until_;
}

std::unique_ptr<Lanes::Loan> Lanes::borrow(const Pass::Way& way, const CallContext& call) {
  while (auto lane = take_idle(way.instance)) {
    if (lane->is_good()) return lend(way.instance, std::move(lane));
    const std::lock_guard lock(mutex_);
    --lanes_;
  }
  if (!guest::Lane::is_possible(*way.guest) || !make_room()) return nullptr;
  try {
    auto lane = guest::Lane::open(*way.guest, call);
    if (lane) return lend(way.instance, *std::move(lane));
  } catch (const std::exception&) {
    // No descriptors are left for a loop: the common connection has its own.
  }
  const std::lock_guard lock(mutex_);
  --lanes_;
  return nullptr;
}

std::unique_ptr<guest::Lane> Lanes::take_idle(const InstanceRef& instance) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(idle_, instance, &Idle::instance);
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<guest::Lane> lane = std::move(found->lane);
  idle_.erase(found);
  return lane;
}

/// Counts one more, where there may be; those that were used longest ago go for it.
bool Lanes::make_room() {
  const std::size_t most = most_lanes();
  std::list<Idle> gone;  // closed after the mutex
  const std::lock_guard lock(mutex_);
  while (lanes_ >= most && !idle_.empty()) {
    gone.splice(gone.begin(), idle_, std::prev(idle_.end()));
    --lanes_;
  }
  if (lanes_ >= most) return false;
  ++lanes_;
  return true;
}

std::unique_ptr<Lanes::Loan> Lanes::lend(const InstanceRef& instance,
                                         std::unique_ptr<guest::Lane> lane) {
  {
    const std::lock_guard lock(mutex_);
    lent_.insert(lane.get());
  }
  return std::make_unique<Loan>(*this, instance, std::move(lane));
}

void Lanes::clock_moved() {
  const std::lock_guard lock(mutex_);
  for (guest::Lane* const lane : lent_) lane->clock_moved();
}

void Lanes::give_back(InstanceRef instance, std::unique_ptr<guest::Lane> lane) {
  const std::lock_guard lock(mutex_);
  lent_.erase(lane.get());
  idle_.push_front({std::move(instance), std::move(lane)});
}

void Lanes::close(const InstanceRef& instance) {
  std::list<Idle> gone;
  const std::lock_guard lock(mutex_);
  for (auto one = idle_.begin(); one != idle_.end();) {
    const auto next = std::next(one);
    if (one->instance == instance) gone.splice(gone.end(), idle_, one);
    one = next;
  }
  lanes_ -= gone.size();
}

void Lanes::close_all() {
  std::list<Idle> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(idle_);
  lanes_ -= gone.size();
}

}  // namespace cove::runtime

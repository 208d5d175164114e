#include "base/system/spinning.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace cove::base {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::microseconds kSlice{200};    // a yield that takes longer gave one away
constexpr std::chrono::milliseconds kCrowded{100};  // so long nobody spins after that

std::atomic<Steady::rep> worth_it_from{0};

}  // namespace

bool is_spinning_worth_it() noexcept {
  return Steady::now().time_since_epoch().count() >= worth_it_from;
}

bool yield_spinning() noexcept {
  const auto before = Steady::now();
  std::this_thread::yield();
  const auto after = Steady::now();
  if (after - before < kSlice) return true;
  worth_it_from = (after + kCrowded).time_since_epoch().count();
  return false;
}

}  // namespace cove::base

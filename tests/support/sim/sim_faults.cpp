#include "support/sim/sim_faults.hpp"

#include <array>

namespace cove::testing {

std::string_view name_of(SimFaultKind kind) noexcept {
  constexpr std::array<std::string_view, kSimFaultKinds> kNames{
      "nothing",      "lost request", "lost reply",  "repeated",      "slow",
      "pause",        "crash before", "crash after", "crash soon",    "skewed clock",
      "power before", "power after",  "store crash", "spoiled upload"};
  return kNames.at(static_cast<std::size_t>(kind));
}

void SimFaults::draw(std::uint64_t seed, SimFaultRates rates) {
  random_.seed(seed);
  rates_ = std::move(rates);
  listed_.clear();
}

void SimFaults::play(const std::vector<SimFault>& faults) {
  rates_.clear();
  listed_.clear();
  for (const SimFault& fault : faults) listed_[{fault.host, fault.name, fault.call}] = fault;
}

void SimFaults::end() {
  rates_.clear();
  listed_.clear();
}

SimFault SimFaults::drawn(std::size_t host, const std::string& name, std::uint64_t call) {
  const std::uint64_t number = random_();
  std::uint64_t chance = (number >> 32U) % 100'000;
  for (const auto& [kind, rate] : rates_) {
    if (kind == SimFaultKind::kSpoiled && name != "upload") continue;
    if (chance < rate) return SimFault{kind, host, name, call, static_cast<std::uint32_t>(number)};
    chance -= rate;
  }
  return {};
}

SimFault SimFaults::at(std::size_t host, const std::string& name, std::uint64_t call) {
  SimFault fault;
  if (!rates_.empty()) {
    fault = drawn(host, name, call);
  } else if (!listed_.empty()) {
    const auto found = listed_.find({host, name, call});
    if (found != listed_.end()) fault = found->second;
  }
  if (fault.kind != SimFaultKind::kNone) happened_.push_back(fault);
  return fault;
}

}  // namespace cove::testing

#include "prepare/pipeline/memory.hpp"

#include <algorithm>
#include <utility>

namespace cove::prepare {

void SandboxMemory::move_to(const InstanceRef& instance) {
  if (instance_ == instance) return;
  instance_ = instance;
  prepared_.clear();
  refusal.reset();
}

const Prepared* SandboxMemory::find(const std::string& fingerprint, Instant now) {
  const auto found = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& one) {
    return one.fingerprint == fingerprint;
  });
  if (fingerprint.empty() || found == prepared_.end()) return nullptr;
  if (found->until && *found->until <= now) {
    prepared_.erase(found);
    return nullptr;
  }
  prepared_.splice(prepared_.begin(), prepared_, found);
  return &*found;
}

void SandboxMemory::note(Prepared prepared) {
  if (prepared.fingerprint.empty()) return;
  prepared_.remove_if([&](const Prepared& one) { return one.fingerprint == prepared.fingerprint; });
  prepared_.push_front(std::move(prepared));
  if (prepared_.size() > kMostPrepared) prepared_.pop_back();
}

void SandboxMemory::forget(const std::string& step) {
  prepared_.remove_if([&](const Prepared& one) {
    return std::ranges::any_of(one.report.steps,
                               [&](const StepReport& report) { return report.step == step; });
  });
}

SandboxMemory& Memory::of(const InstanceRef& instance) {
  const SandboxId& sandbox = instance.volume.sandbox;
  const auto place = places_.find(sandbox);
  if (place == places_.end()) {
    known_.emplace_front(sandbox, SandboxMemory());
    places_[sandbox] = known_.begin();
  } else {
    known_.splice(known_.begin(), known_, place->second);
  }
  if (known_.size() > kMostSandboxes) {
    places_.erase(known_.back().first);
    known_.pop_back();
  }
  SandboxMemory& memory = known_.front().second;
  memory.move_to(instance);
  return memory;
}

SandboxMemory* Memory::find(const InstanceRef& instance) {
  const auto place = places_.find(instance.volume.sandbox);
  if (place == places_.end() || place->second->second.instance() != instance) return nullptr;
  return &of(instance);
}

}  // namespace cove::prepare

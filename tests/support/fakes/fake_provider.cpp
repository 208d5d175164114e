#include "support/fakes/fake_provider.hpp"

#include <stdexcept>

namespace cove::testing {

Task<Result<void>> FakeProvider::create_volume(const VolumeRef& volume,
                                               const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  volumes_.insert(volume);
  co_return ok();
}

Task<Result<void>> FakeProvider::delete_volume(const VolumeRef& volume,
                                               const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  volumes_.erase(volume);
  co_return ok();
}

Task<Result<std::unique_ptr<OfflineVolume>>> FakeProvider::open_volume(
    const VolumeRef& /*volume*/, VolumeAccess /*access*/, const CallContext& /*call*/) {
  co_return Error(ErrorCode::kUnsupported, "a fake volume cannot be opened");
}

Task<Result<void>> FakeProvider::start_instance(const InstanceRef& instance,
                                                const SandboxPolicy& /*policy*/,
                                                const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  if (volumes_.count(instance.volume) == 0) co_return Error(ErrorCode::kIntegrity, "no volume");
  if (running_.count(instance) == 0) {
    all_.push_back(std::make_shared<FakeGuest>(scheduler_));
    running_[instance] = all_.back();
  }
  co_return ok();
}

Task<Result<void>> FakeProvider::stop_instance(const InstanceRef& instance,
                                               const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  running_.erase(instance);
  co_return ok();
}

Task<Result<InstanceStatus>> FakeProvider::inspect(const InstanceRef& instance,
                                                   const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  InstanceStatus status;
  if (running_.count(instance) != 0) status.state = InstanceState::kRunning;
  status.volume_present = volumes_.count(instance.volume) != 0;
  co_return status;
}

Task<Result<std::shared_ptr<Guest>>> FakeProvider::connect(const InstanceRef& instance,
                                                           const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(throws_, false)) throw std::runtime_error("the provider broke");
  if (volumes_.count(instance.volume) == 0) {
    co_return Error(ErrorCode::kIntegrity, "the volume is missing");
  }
  const auto found = running_.find(instance);
  if (unreachable_ || found == running_.end()) {
    co_return Error(ErrorCode::kUnavailable, "nothing answers");
  }
  co_return std::shared_ptr<Guest>(found->second);
}

Task<Result<ProviderInventory>> FakeProvider::list(const DeploymentId& /*deployment*/,
                                                   const CallContext& /*call*/) {
  const std::lock_guard lock(mutex_);
  ProviderInventory inventory;
  inventory.volumes.assign(volumes_.begin(), volumes_.end());
  for (const auto& [instance, guest] : running_) inventory.instances.push_back(instance);
  co_return inventory;
}

void FakeProvider::kill_all() {
  const std::lock_guard lock(mutex_);
  running_.clear();
}

void FakeProvider::lose_volumes() {
  const std::lock_guard lock(mutex_);
  volumes_.clear();
}

void FakeProvider::set_unreachable(bool unreachable) {
  const std::lock_guard lock(mutex_);
  unreachable_ = unreachable;
}

void FakeProvider::throw_once() {
  const std::lock_guard lock(mutex_);
  throws_ = true;
}

std::size_t FakeProvider::starts() const {
  const std::lock_guard lock(mutex_);
  return all_.size();
}

std::size_t FakeProvider::running() const {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

std::vector<std::string> FakeProvider::guest_calls() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> calls;
  for (const auto& guest : all_) {
    calls.insert(calls.end(), guest->log.calls.begin(), guest->log.calls.end());
  }
  return calls;
}

std::shared_ptr<FakeGuest> FakeProvider::only_guest() const {
  const std::lock_guard lock(mutex_);
  return running_.size() == 1 ? running_.begin()->second : nullptr;
}

}  // namespace cove::testing

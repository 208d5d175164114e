#include "support/sim/sim_provider.hpp"

#include <algorithm>
#include <utility>

#include "lifecycle/rules/transitions.hpp"
#include "support/sim/sim_guest.hpp"

namespace cove::testing {
namespace {

Error no_volume(const VolumeRef& volume) {
  return Error(ErrorCode::kIntegrity, "volume " + volume.generation.str() + " is missing");
}

/// True where a record allows that its current volume goes: it is in the archive, or destroyed.
bool may_go(const Record& record) {
  if (!record.operation) return false;
  if (record.operation->kind == OperationKind::kDestroy) return true;
  const auto row = lifecycle::row_of(record);
  return row && lifecycle::is_archiving(*row) && row->phase != Phase::kClaimed;
}

}  // namespace

bool SimNode::write(const InstanceRef& instance, const std::string& file,
                    const std::string& content, bool durable) {
  const auto found = volumes.find(instance.volume);
  const Record* record = store.find(instance.volume.sandbox);
  if (!instances.contains(instance) || found == volumes.end() || record == nullptr) return false;
  ++changes;
  found->second.files[file] = content;
  committed[{instance.volume.sandbox, record->incarnation}][file] = content;
  if (durable) {
    found->second.disk[file] = content;
  } else {
    // A stop syncs, then ends: what is written between is promised to nobody. Nor is what is
    // written to a volume that was moved away under its instance, where a stop finds nothing.
    const bool stops = record->operation && record->operation->kind == OperationKind::kStop;
    loose_[instance.volume][file] = stops || !found->second.present;
  }
  return true;
}

void SimNode::sync(const VolumeRef& volume) {
  const auto found = volumes.find(volume);
  if (found == volumes.end()) return;
  found->second.disk = found->second.files;
  loose_.erase(volume);
}

void SimNode::excuse_loose(const SandboxId& sandbox, const Generation& generation) {
  for (auto& [volume, files] : loose_) {
    if (volume.sandbox != sandbox || volume.generation != generation) continue;
    for (auto& [file, ends] : files) ends = true;
  }
}

void SimNode::lose_power() {
  reboot();
  for (auto& [volume, content] : volumes) {
    content.files = content.disk;
    const Record* record = store.find(volume.sandbox);
    const auto loose = loose_.find(volume);
    if (record == nullptr || loose == loose_.end()) continue;
    const bool runs =
        record->state == SandboxState::kRunning && record->generation == volume.generation;
    for (const auto& [file, ends] : loose->second) {
      const bool promised = !runs && !ends;
      if (!promised) committed[{volume.sandbox, record->incarnation}].erase(file);
    }
  }
  loose_.clear();
}

Result<void> SimNode::erase(const VolumeRef& volume) {
  const auto found = volumes.find(volume);
  if (found == volumes.end()) return ok();
  if (is_open(found->second)) {
    return Error(ErrorCode::kFailedPrecondition, "the volume is open");
  }
  for (const auto& [instance, state] : instances) {
    if (instance.volume == volume) {
      return Error(ErrorCode::kFailedPrecondition, "an instance runs on the volume");
    }
  }
  const Record* record = store.find(volume.sandbox);
  if (record != nullptr && record->generation == volume.generation && !may_go(*record)) {
    world.violation("the current volume of " + volume.sandbox.str() + " was deleted");
  }
  if (on_erase) on_erase(volume, found->second);
  volumes.erase(found);
  ++changes;
  return ok();
}

std::size_t SimNode::instances_of(const SandboxId& sandbox) const {
  return static_cast<std::size_t>(
      std::count_if(instances.begin(), instances.end(),
                    [&](const auto& entry) { return entry.first.volume.sandbox == sandbox; }));
}

std::size_t SimNode::volumes_of(const SandboxId& sandbox) const {
  return static_cast<std::size_t>(
      std::count_if(volumes.begin(), volumes.end(),
                    [&](const auto& entry) { return entry.first.sandbox == sandbox; }));
}

std::optional<Error> SimProvider::fault(const std::string& kind) const {
  for (const std::string& name : {kind, name_ + " " + kind}) {
    const auto found = node_.failing.find(name);
    if (found != node_.failing.end()) return found->second;
  }
  return std::nullopt;
}

SimVolume* SimProvider::find(const VolumeRef& volume) const {
  const auto found = node_.volumes.find(volume);
  const bool is_own = found != node_.volumes.end() && found->second.provider == name_;
  return is_own ? &found->second : nullptr;
}

Task<Result<void>> SimProvider::create_volume(const VolumeRef& volume, const CallContext& call) {
  const auto effect = [this, node = &node_, volume]() -> Result<void> {
    if (const auto error = fault("create_volume")) return *error;
    const auto [made, is_new] = node->volumes.try_emplace(volume);
    if (is_new) made->second.provider = name_;
    return ok();
  };
  co_return co_await remote<void>(host_, "create_volume", effect, call);
}

Task<Result<void>> SimProvider::delete_volume(const VolumeRef& volume, const CallContext& call) {
  const auto effect = [this, node = &node_, volume]() -> Result<void> {
    if (const auto error = fault("delete_volume")) return *error;
    return find(volume) != nullptr ? node->erase(volume) : ok();
  };
  co_return co_await remote<void>(host_, "delete_volume", effect, call);
}

Task<Result<std::unique_ptr<OfflineVolume>>> SimProvider::open_volume(const VolumeRef& volume,
                                                                      VolumeAccess,
                                                                      const CallContext& call) {
  const auto effect = [this, volume]() -> Result<void> {
    if (const auto error = fault("open_volume")) return *error;
    const SimVolume* const found = find(volume);
    if (found == nullptr || !found->present) return no_volume(volume);
    const bool runs = std::any_of(node_.instances.begin(), node_.instances.end(),
                                  [&](const auto& entry) { return entry.first.volume == volume; });
    if (runs || node_.is_open(*found)) {
      return Error(ErrorCode::kFailedPrecondition, "the volume is in use");
    }
    return ok();
  };
  COVE_CO_TRY_VOID(co_await remote<void>(host_, "open_volume", effect, call));
  // Between the answer and here somebody else may have come.
  COVE_CO_TRY_VOID(effect());
  co_return std::unique_ptr<OfflineVolume>(
      std::make_unique<SimOfflineVolume>(host_, node_, volume));
}

Result<void> SimProvider::start(const InstanceRef& instance) {
  if (const auto error = fault("start_instance")) return *error;
  const SimVolume* const found = find(instance.volume);
  if (found == nullptr || !found->present) return no_volume(instance.volume);
  if (node_.is_open(*found)) {
    return Error(ErrorCode::kFailedPrecondition, "the volume is open");
  }
  if (instance.epoch <= found->ended) return Error(ErrorCode::kConflict, "it was stopped");
  if (node_.instances.contains(instance)) return ok();
  for (const auto& [other, state] : node_.instances) {
    const bool same_sandbox =
        other.volume.sandbox == instance.volume.sandbox && find(other.volume) != nullptr;
    if (same_sandbox && other.epoch >= instance.epoch) {
      return Error(ErrorCode::kConflict, "a newer epoch runs");
    }
  }
  std::erase_if(node_.instances, [&](const auto& entry) {
    const VolumeRef& volume = entry.first.volume;
    return volume.sandbox == instance.volume.sandbox && find(volume) != nullptr;
  });
  node_.instances[instance].came_again = node_.world.comes_again();
  ++node_.changes;
  return ok();
}

Task<Result<void>> SimProvider::start_instance(const InstanceRef& instance, const SandboxPolicy&,
                                               const CallContext& call) {
  const auto effect = [this, instance] { return start(instance); };
  co_return co_await remote<void>(host_, "start_instance", effect, call);
}

Task<Result<void>> SimProvider::stop_instance(const InstanceRef& instance,
                                              const CallContext& call) {
  const auto effect = [this, instance]() -> Result<void> {
    if (const auto error = fault("stop_instance")) return *error;
    SimVolume* const found = find(instance.volume);
    if (found == nullptr) return ok();
    found->ended = std::max(found->ended, instance.epoch);
    std::erase_if(node_.instances, [&](const auto& entry) {
      const bool ends =
          entry.first.volume == instance.volume && entry.first.epoch <= instance.epoch;
      if (ends && node_.on_stop) node_.on_stop(entry.first);
      return ends;
    });
    return ok();
  };
  co_return co_await remote<void>(host_, "stop_instance", effect, call);
}

Task<Result<InstanceStatus>> SimProvider::inspect(const InstanceRef& instance,
                                                  const CallContext& call) {
  const auto effect = [this, instance]() -> Result<InstanceStatus> {
    if (const auto error = fault("inspect")) return *error;
    InstanceStatus status;
    const SimVolume* const found = find(instance.volume);
    status.volume_present = found != nullptr && found->present;
    if (found != nullptr && node_.instances.contains(instance))
      status.state = InstanceState::kRunning;
    return status;
  };
  co_return co_await remote<InstanceStatus>(host_, "inspect", effect, call);
}

Task<Result<std::shared_ptr<Guest>>> SimProvider::connect(const InstanceRef& instance,
                                                          const CallContext& call) {
  using Connected = std::shared_ptr<Guest>;
  const auto effect = [this, instance]() -> Result<Connected> {
    if (const auto error = fault("connect")) return *error;
    if (find(instance.volume) == nullptr || !node_.instances.contains(instance)) {
      return Error(ErrorCode::kUnavailable, "nothing answers");
    }
    return Connected(std::make_shared<SimGuest>(host_, node_, instance));
  };
  co_return co_await remote<Connected>(host_, "connect", effect, call);
}

Task<Result<ProviderInventory>> SimProvider::list(const DeploymentId& deployment,
                                                  const CallContext& call) {
  const auto effect = [this, deployment]() -> Result<ProviderInventory> {
    ProviderInventory inventory;
    for (const auto& [volume, state] : node_.volumes) {
      if (state.provider != name_) continue;
      if (volume.deployment == deployment) inventory.volumes.push_back(volume);
    }
    for (const auto& [instance, state] : node_.instances) {
      if (find(instance.volume) == nullptr) continue;
      if (instance.volume.deployment == deployment) inventory.instances.push_back(instance);
    }
    return inventory;
  };
  co_return co_await remote<ProviderInventory>(host_, "list", effect, call);
}

SimOfflineVolume::SimOfflineVolume(SimHost& host, SimNode& node, VolumeRef volume)
    : host_(host), node_(node), volume_(std::move(volume)) {
  content().opened_by = &host_;
}

SimOfflineVolume::~SimOfflineVolume() {
  const auto found = node_.volumes.find(volume_);
  if (found != node_.volumes.end() && found->second.opened_by == &host_) {
    found->second.opened_by = nullptr;
  }
}

Task<Result<void>> SimOfflineVolume::sync(const CallContext& call) {
  const auto effect = [node = &node_, volume = volume_, pretends = pretends_]() -> Result<void> {
    if (!pretends) node->sync(volume);
    return ok();
  };
  co_return co_await remote<void>(host_, "sync volume", effect, call);
}

}  // namespace cove::testing

/// A provider of the simulated world: volumes with files, instances with epochs, and an eye on what
/// must never happen to them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <cove/provider.hpp>

#include "support/sim/sim_store.hpp"

namespace cove::testing {

using SimFiles = std::map<std::string, std::string>;

struct SimVolume {
  SimFiles files;       ///< as everybody sees them
  SimFiles disk;        ///< as they are after the machine lost power
  bool present = true;  ///< false: the directory was moved away
  std::string provider = "sim";
  Epoch ended{};  ///< the newest that was stopped: it never starts again
  const SimHost* opened_by = nullptr;
};

struct SimInstance {
  std::uint32_t running_commands = 0;
  std::uint32_t keep_alive_commands = 0;
  bool came_again = false;  ///< by a request that arrived twice
  std::string held_by;      ///< the stop for which it starts nothing new
  Instant held_until{};
};

/// One machine's disks and processes.
class SimNode {
 public:
  SimNode(SimWorld& its_world, SimStoreState& its_store, std::string its_name)
      : world(its_world), store(its_store), name(std::move(its_name)) {}

  /// Everything that runs ends, as at a reboot; what is on disk stays.
  void reboot() {
    instances.clear();
    ++changes;
  }

  /// The same without a warning: what was not synced is gone. What nobody promised to keep is not
  /// in `committed` any more.
  void lose_power();

  /// Writes a file as a command in that instance would; false where it does not run. `durable` as
  /// the file calls have it.
  bool write(const InstanceRef& instance, const std::string& file, const std::string& content,
             bool durable = false);

  /// What was written into the volume and not synced is promised to nobody: its instance ended
  /// without a stop.
  void excuse_loose(const SandboxId& sandbox, const Generation& generation);

  /// Everything of the volume is on disk.
  void sync(const VolumeRef& volume);

  /// Deletes a volume, or says why not.
  Result<void> erase(const VolumeRef& volume);

  bool is_open(const SimVolume& volume) const {
    return volume.opened_by != nullptr && volume.opened_by->alive();
  }
  std::size_t instances_of(const SandboxId& sandbox) const;
  std::size_t volumes_of(const SandboxId& sandbox) const;

  SimWorld& world;
  SimStoreState& store;
  std::string name;
  std::map<VolumeRef, SimVolume> volumes;
  std::map<InstanceRef, SimInstance> instances;
  std::uint64_t changes = 0;  ///< grows with each change of either
  /// What was written, by sandbox and incarnation: it must be there as long as that lives.
  std::map<std::pair<SandboxId, Incarnation>, SimFiles> committed;
  /// Results that the next calls of a kind give instead: "start_instance"; "sim2 start_instance":
  /// only those to that provider.
  std::map<std::string, Error> failing;
  /// Called before a volume goes.
  std::function<void(const VolumeRef& volume, const SimVolume& content)> on_erase;
  /// Called before an instance that runs is stopped by its provider.
  std::function<void(const InstanceRef& instance)> on_stop;

 private:
  /// Files that a machine without power may lose: neither written durably nor synced since.
  std::map<VolumeRef, std::map<std::string, bool>> loose_;
};

/// One host's access to its machine's node. Several with different names share a machine, and see
/// nothing of each other's volumes.
class SimProvider final : public Provider {
 public:
  SimProvider(SimHost& host, SimNode& node, std::string name = "sim")
      : host_(host), node_(node), name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  NodeId node() const override { return NodeId(node_.name); }
  ProviderCapabilities capabilities() const override { return {.offline_volume = true}; }

  Task<Result<void>> create_volume(const VolumeRef& volume, const CallContext& call) override;
  Task<Result<void>> delete_volume(const VolumeRef& volume, const CallContext& call) override;
  Task<Result<std::unique_ptr<OfflineVolume>>> open_volume(const VolumeRef& volume,
                                                           VolumeAccess access,
                                                           const CallContext& call) override;
  Task<Result<void>> start_instance(const InstanceRef& instance, const SandboxPolicy& policy,
                                    const CallContext& call) override;
  Task<Result<void>> stop_instance(const InstanceRef& instance, const CallContext& call) override;
  Task<Result<InstanceStatus>> inspect(const InstanceRef& instance,
                                       const CallContext& call) override;
  Task<Result<std::shared_ptr<Guest>>> connect(const InstanceRef& instance,
                                               const CallContext& call) override;
  Task<Result<ProviderInventory>> list(const DeploymentId& deployment,
                                       const CallContext& call) override;

 private:
  /// The error that a call of this kind is to give.
  std::optional<Error> fault(const std::string& kind) const;
  Result<void> start(const InstanceRef& instance);
  /// The volume, where it is there and this provider's.
  SimVolume* find(const VolumeRef& volume) const;

  SimHost& host_;
  SimNode& node_;
  const std::string name_;
};

/// A volume that a host has open; what the snapshotter reads and writes.
class SimOfflineVolume final : public OfflineVolume {
 public:
  SimOfflineVolume(SimHost& host, SimNode& node, VolumeRef volume);
  ~SimOfflineVolume() override;

  int workspace() const override { return -1; }
  IdMapping ids() const override { return {}; }
  Task<Result<void>> sync(const CallContext& call) override;

  SimVolume& content() { return node_.volumes.at(volume_); }
  SimNode& node() { return node_; }
  const VolumeRef& volume() const { return volume_; }

  /// sync says that it did, and did nothing: one of the deliberate faults.
  void pretend_to_sync() { pretends_ = true; }

 private:
  SimHost& host_;
  SimNode& node_;
  VolumeRef volume_;
  bool pretends_ = false;
};

}  // namespace cove::testing

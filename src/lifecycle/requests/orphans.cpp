// What exists on this node and no record names.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lifecycle/operations/garbage.hpp"
#include "lifecycle/requests/settle.hpp"
#include "lifecycle/requests/sweep.hpp"

namespace cove::lifecycle {
namespace {

/// What one sandbox's record and tombstone name.
struct Named {
  std::optional<Record> record;
  std::vector<GarbageVolume> doomed;  // garbage and graves
};

Task<Result<Named>> read_names(Core& core, SandboxId sandbox, const CallContext& call) {
  Named named;
  COVE_CO_TRY(auto found, co_await core.records.load(sandbox, call));
  COVE_CO_TRY(const auto tombstone, co_await core.records.tombstone(sandbox, call));
  if (found) {
    named.record = std::move(found->record);
    // The volumes that a grave would name are the record's own and its garbage.
    named.doomed = grave_of(*named.record, StoreTime{}).volumes;
  }
  if (!tombstone) co_return named;
  for (const Grave& grave : tombstone->tombstone.graves) {
    named.doomed.insert(named.doomed.end(), grave.volumes.begin(), grave.volumes.end());
  }
  co_return named;
}

bool names(const Named& named, const VolumeRef& volume) {
  if (named.record && names_volume(*named.record, volume.generation)) return true;
  return std::any_of(named.doomed.begin(), named.doomed.end(), [&](const GarbageVolume& doomed) {
    return doomed.generation == volume.generation;
  });
}

/// True for what runs, or is being started; what is on a garbage list is ended with its volume.
bool names(const Named& named, const InstanceRef& instance) {
  if (!named.record) return false;
  const Record& record = *named.record;
  const Generation& generation = instance.volume.generation;
  if (record.operation && number_of(record.operation->epoch) > 0) {
    const Generation& made =
        record.operation->generation.empty() ? record.generation : record.operation->generation;
    if (generation == made && instance.epoch == record.operation->epoch) return true;
  }
  return record.state == SandboxState::kRunning && generation == record.generation &&
         instance.epoch == record.epoch;
}

template <class T>
void append(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// What of the inventory, which was taken before, no record names: what was made since is in a
/// record before it is made.
Task<Result<OrphanReport>> compare(Core& core, const ProviderInventory& inventory,
                                   const CallContext& call) {
  std::map<SandboxId, Named> known;
  for (const VolumeRef& volume : inventory.volumes) known[volume.sandbox];
  for (const InstanceRef& instance : inventory.instances) known[instance.volume.sandbox];
  for (auto& [sandbox, named] : known) {
    COVE_CO_TRY(named, co_await read_names(core, sandbox, call));
  }
  OrphanReport report;
  for (const VolumeRef& volume : inventory.volumes) {
    if (!names(known.at(volume.sandbox), volume)) report.volumes.push_back(volume);
  }
  for (const InstanceRef& instance : inventory.instances) {
    if (!names(known.at(instance.volume.sandbox), instance)) report.instances.push_back(instance);
  }
  co_return report;
}

/// Says of all that the report has that it is at this provider.
void name_provider(OrphanReport& report, const std::string& provider) {
  for (const auto* const volumes : {&report.volumes, &report.foreign_volumes}) {
    for (const VolumeRef& volume : *volumes) report.providers.emplace(volume, provider);
  }
  for (const auto* const instances : {&report.instances, &report.foreign_instances}) {
    for (const InstanceRef& one : *instances) report.providers.emplace(one.volume, provider);
  }
}

/// Whether the document is a record that says running without an instance in the inventory; then
/// which one it misses.
std::optional<InstanceRef> missing_instance(const Core& core, const Provider& provider,
                                            const StoredDocument& stored,
                                            const std::set<InstanceRef>& there) {
  const auto record = parse_record(stored.document.body);
  if (!record || record->operation || record->state != SandboxState::kRunning) return std::nullopt;
  if (record->provider != provider.name()) return std::nullopt;
  const InstanceRef instance = core.instance_of(*record);
  if (there.contains(instance)) return std::nullopt;
  return instance;
}

Task<Result<OrphanReport>> find_orphans_of(Core& core, Provider& provider,
                                           const CallContext& call) {
  COVE_CO_TRY(const ProviderInventory inventory, co_await provider.list(core.deployment, call));
  COVE_CO_TRY(OrphanReport report, co_await compare(core, inventory, call));
  for (const DeploymentId& other : inventory.others) {
    COVE_CO_TRY(const ProviderInventory foreign, co_await provider.list(other, call));
    append(report.foreign_volumes, foreign.volumes);
    append(report.foreign_instances, foreign.instances);
  }
  name_provider(report, std::string(provider.name()));
  co_return report;
}

Task<Result<std::uint32_t>> stop_orphans_of(Core& core, Provider& provider,
                                            const CallContext& call) {
  COVE_CO_TRY(const ProviderInventory inventory, co_await provider.list(core.deployment, call));
  COVE_CO_TRY(const OrphanReport orphans, co_await compare(core, inventory, call));
  std::uint32_t stopped = 0;
  for (const InstanceRef& instance : orphans.instances) {
    COVE_CO_TRY_VOID(co_await provider.stop_instance(instance, call));
    ++stopped;
  }
  co_return stopped;
}

Task<Result<std::uint32_t>> settle_lost_of(std::shared_ptr<Core> core, Provider& provider,
                                           const CallContext& call) {
  // Taken before the records are read; what starts meanwhile is asked about, and is there.
  COVE_CO_TRY(const ProviderInventory inventory, co_await provider.list(core->deployment, call));
  const std::set<InstanceRef> there(inventory.instances.begin(), inventory.instances.end());
  DocumentQuery query;
  query.state = name_of(SandboxState::kRunning);
  query.node = provider.node().str();
  if (query.node->empty()) query.node.reset();
  std::uint32_t settled = 0;
  do {
    COVE_CO_TRY(const auto page, co_await core->records.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const auto missing = missing_instance(*core, provider, stored, there);
      if (!missing) continue;
      const auto gone = co_await report_unreachable(core, *missing, Reason::kRecovery, call);
      // A missing volume is noted in the record; what cannot be asked now is asked again.
      if (gone && *gone) ++settled;
    }
    query.after = page.next;
  } while (!query.after.empty());
  co_return settled;
}

}  // namespace

Task<Result<OrphanReport>> find_orphans(std::shared_ptr<Core> core, const CallContext& call) {
  OrphanReport report;
  for (Provider* const provider : core->providers()) {
    COVE_CO_TRY(const OrphanReport more, co_await find_orphans_of(*core, *provider, call));
    append(report.volumes, more.volumes);
    append(report.instances, more.instances);
    append(report.foreign_volumes, more.foreign_volumes);
    append(report.foreign_instances, more.foreign_instances);
    report.providers.insert(more.providers.begin(), more.providers.end());
  }
  co_return report;
}

Task<Result<std::uint32_t>> stop_orphans(std::shared_ptr<Core> core, const CallContext& call) {
  std::uint32_t stopped = 0;
  for (Provider* const provider : core->providers()) {
    COVE_CO_TRY(const auto more, co_await stop_orphans_of(*core, *provider, call));
    stopped += more;
  }
  co_return stopped;
}

Task<Result<std::uint32_t>> settle_lost(std::shared_ptr<Core> core, const CallContext& call) {
  std::uint32_t settled = 0;
  for (Provider* const provider : core->providers()) {
    COVE_CO_TRY(const auto more, co_await settle_lost_of(core, *provider, call));
    settled += more;
  }
  co_return settled;
}

}  // namespace cove::lifecycle

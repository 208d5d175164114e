#include "lifecycle/operations/garbage.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace cove::lifecycle {
namespace {

bool is_within_reach(const Core& core, const Garbage& garbage) {
  const auto* volume = std::get_if<GarbageVolume>(&garbage);
  return volume == nullptr || core.reaches(place_of(*volume));
}

/// True where the record uses it all the same: then the list is wrong, and nothing is deleted.
bool is_in_use(const Record& record, const Garbage& garbage) {
  Record without = remove_garbage(record, garbage);
  return !add_garbage(std::move(without), garbage);
}

Task<Result<void>> delete_garbage(Core& core, const Record& record, const Garbage& garbage,
                                  const CallContext& call) {
  if (is_in_use(record, garbage)) {
    co_return Error(ErrorCode::kInternal, "sandbox '" + record.sandbox_id.str() +
                                              "' uses what is on its garbage list; it was kept");
  }
  if (const auto* volume = std::get_if<GarbageVolume>(&garbage)) {
    co_return co_await delete_volume(core, record.sandbox_id, *volume, call);
  }
  if (const auto* snapshot = std::get_if<GarbageSnapshot>(&garbage)) {
    co_return co_await core.parts.snapshotter.remove(snapshot->snapshot, call);
  }
  const SnapshotOwner owner = core.snapshot_owner(record);
  const OperationId attempt = std::get<GarbageAttempt>(garbage).attempt;
  // An empty attempt would name everything of the incarnation.
  if (attempt.empty()) co_return Error(ErrorCode::kInternal, "a garbage attempt has no name");
  co_return co_await core.parts.snapshotter.remove_all(owner, attempt, call);
}

Task<Result<void>> take_off(Core& core, const SandboxId& sandbox,
                            const std::vector<Garbage>& deleted, const CallContext& call) {
  const Change change = [&](const Record& record, StoreTime) -> Result<std::optional<Record>> {
    Record next = record;
    for (const Garbage& garbage : deleted) next = remove_garbage(std::move(next), garbage);
    if (next.garbage.size() == record.garbage.size()) return std::optional<Record>();
    return std::optional<Record>(std::move(next));
  };
  const auto updated = co_await core.records.update(sandbox, Durability::kDurable, change, call);
  if (!updated) co_return updated.error();
  co_return ok();
}

Task<void> collect_beside(std::shared_ptr<Core> core, SandboxId sandbox) {
  const CallContext call{std::nullopt, core->closing.get_token()};
  const auto collected = co_await collect_garbage(*core, sandbox, call);
  if (!collected) core->log(LogLevel::kWarning, collected.error().describe());
}

}  // namespace

Task<Result<void>> delete_volume(Core& core, SandboxId sandbox, GarbageVolume volume,
                                 const CallContext& call) {
  COVE_CO_TRY(Provider* const provider, core.provider_of(volume.provider));
  const InstanceRef instance = core.instance_of(sandbox, volume.generation, volume.epoch);
  COVE_CO_TRY_VOID(co_await provider->stop_instance(instance, call));
  co_return co_await provider->delete_volume(instance.volume, call);
}

Task<Result<std::uint32_t>> collect_garbage(Core& core, SandboxId sandbox,
                                            const CallContext& call) {
  COVE_CO_TRY(const auto found, co_await core.records.load(sandbox, call));
  if (!found) co_return std::uint32_t{0};
  std::vector<Garbage> deleted;
  std::optional<Error> first_error;
  for (const Garbage& garbage : found->record.garbage) {
    if (!is_within_reach(core, garbage)) continue;
    const auto done = co_await delete_garbage(core, found->record, garbage, call);
    if (done) {
      deleted.push_back(garbage);
    } else if (!first_error) {
      first_error = done.error();
    }
  }
  if (!deleted.empty()) COVE_CO_TRY_VOID(co_await take_off(core, sandbox, deleted, call));
  if (first_error) co_return *first_error;
  co_return static_cast<std::uint32_t>(deleted.size());
}

void collect_garbage_soon(const std::shared_ptr<Core>& core, const SandboxId& sandbox) {
  core->run_beside(collect_beside(core, sandbox));
}

Task<Result<std::uint32_t>> sweep_tombstone(Core& core, SandboxId sandbox,
                                            const CallContext& call) {
  COVE_CO_TRY(const auto found, co_await core.records.tombstone(sandbox, call));
  if (!found) co_return std::uint32_t{0};
  COVE_CO_TRY(const StoreTime now, co_await core.records.now(call));
  std::uint32_t swept = 0;
  for (std::size_t i = 0; i < found->tombstone.graves.size(); ++i) {
    if (!is_due(found->tombstone, i, now, core.settings.tombstone_keep)) continue;
    Grave grave = found->tombstone.graves[i];
    std::vector<GarbageVolume> elsewhere;
    for (const GarbageVolume& volume : grave.volumes) {
      if (!core.reaches(place_of(volume))) {
        elsewhere.push_back(volume);
        continue;
      }
      COVE_CO_TRY_VOID(co_await delete_volume(core, sandbox, volume, call));
    }
    const SnapshotOwner owner{core.deployment, sandbox, grave.incarnation, grave.key, {}};
    const OperationId every_attempt;
    COVE_CO_TRY_VOID(co_await core.parts.snapshotter.remove_all(owner, every_attempt, call));
    grave.volumes = std::move(elsewhere);
    COVE_CO_TRY_VOID(co_await core.records.unbury(sandbox, grave, call));
    ++swept;
  }
  co_return swept;
}

}  // namespace cove::lifecycle

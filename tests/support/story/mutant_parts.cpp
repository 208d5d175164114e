#include "support/story/mutant_parts.hpp"

#include <algorithm>
#include <vector>

namespace cove::testing {
namespace {

/// The source's document, as if it had never been deleted.
std::string undeleted(std::string body) {
  const std::string key = "\"deleted_at\":";
  const auto at = body.find(key);
  if (at == std::string::npos) return body;
  const auto first = at + key.size();
  const auto last = body.find_first_not_of("0123456789", first);
  return body.replace(first, last - first, "0");
}

/// A restore that is taken over as if it could go on with what is there.
void go_on(Record& next, const Record& stored) {
  const Operation& was = *stored.operation;
  next.operation->phase = was.phase;
  next.operation->generation = was.generation;
  next.operation->epoch = was.epoch;
  next.provider = stored.provider;
  next.node = stored.node;
  std::erase_if(next.garbage, [&](const Garbage& garbage) {
    const auto* volume = std::get_if<GarbageVolume>(&garbage);
    return volume != nullptr && volume->generation == was.generation;
  });
}

/// A restore in place of an archive, from the snapshot before.
void take_older(Record& next, const Record& stored) {
  const SnapshotRef newer = *stored.operation->snapshot;
  std::erase(next.garbage, Garbage(GarbageSnapshot{*stored.snapshot}));
  next.garbage.emplace_back(GarbageSnapshot{newer});
  next.snapshot = stored.snapshot;
}

bool is_take_over(const Record& next, const Record& stored) {
  return next.operation && stored.operation && next.operation->kind == stored.operation->kind &&
         next.operation->id != stored.operation->id;
}

}  // namespace

void MutantStore::keep_id(Record& next, const Record& stored) {
  if (!next.operation) return;
  OperationId& id = next.operation->id;
  if (!ids_.contains(id) && is_take_over(next, stored)) {
    const OperationId kept = stored.operation->id;
    std::erase_if(ids_, [&](const auto& entry) { return entry.second == kept; });
    ids_[id] = kept;
  }
  const auto known = ids_.find(id);
  if (known != ids_.end()) id = known->second;
}

Document MutantStore::written(const DocumentId& id, const Document& next) {
  using enum Mutation;
  const bool changes = mutation_ == kTakeOverKeepsId || mutation_ == kOlderSnapshot ||
                       mutation_ == kGarbageForgotten || mutation_ == kRestoreGoesOn ||
                       mutation_ == kGarbageElsewhere;
  const Record* stored = state_.find(SandboxId(id.name));
  if (id.kind != DocumentKind::kSandbox || !changes || stored == nullptr) return next;
  Record record = parse_record(next.body).value();
  if (mutation_ == kTakeOverKeepsId) keep_id(record, *stored);
  if (mutation_ == kGarbageForgotten) record.garbage.clear();
  if (mutation_ == kGarbageElsewhere) {
    for (Garbage& garbage : record.garbage) {
      auto* volume = std::get_if<GarbageVolume>(&garbage);
      if (volume != nullptr) volume->provider = record.provider;
    }
  }
  const bool restores =
      record.operation && record.operation->kind == OperationKind::kRestore && stored->operation;
  if (mutation_ == kRestoreGoesOn && restores && is_take_over(record, *stored)) {
    go_on(record, *stored);
  }
  const bool replaces = restores && stored->operation->kind == OperationKind::kArchive;
  if (mutation_ == kOlderSnapshot && replaces && stored->snapshot) take_older(record, *stored);
  return Document{to_json(record), next.index};
}

void MutantStore::change_read(StoredDocument& document) {
  std::string& body = document.document.body;
  if (mutation_ == Mutation::kSourceNotRead && document.id.kind == DocumentKind::kSource) {
    body = undeleted(std::move(body));
  }
  if (document.id.kind != DocumentKind::kSandbox) return;
  if (mutation_ == Mutation::kActivityIgnored) {
    Record record = parse_record(body).value();
    std::erase_if(record.activity,
                  [&](const ActivityLease& lease) { return lease.owner != host_.self(); });
    body = to_json(record);
  }
  if (mutation_ == Mutation::kTakeOverKeepsId) {
    Record record = parse_record(body).value();
    if (!record.operation) return;
    for (const auto& [own, stored] : ids_) {
      if (stored == record.operation->id) record.operation->id = own;
    }
    body = to_json(record);
  }
}

Task<Result<Version>> MutantStore::insert(const DocumentId& id, const Document& document,
                                          Durability durability, const CallContext& call) {
  const bool forgets =
      mutation_ == Mutation::kTombstoneForgotten && id.kind == DocumentKind::kTombstone;
  if (forgets) co_return Version(1);
  co_return co_await store_.insert(id, document, weakened(durability), call);
}

Task<Result<std::optional<StoredDocument>>> MutantStore::find(const DocumentId& id,
                                                              const CallContext& call) {
  COVE_CO_TRY(auto found, co_await store_.find(id, call));
  if (found) change_read(*found);
  co_return found;
}

Task<Result<Version>> MutantStore::compare_and_swap(const DocumentId& id, Version expected,
                                                    const Document& next, Durability durability,
                                                    const CallContext& call) {
  const Document changed = written(id, next);
  co_return co_await store_.compare_and_swap(id, expected, changed, weakened(durability), call);
}

void MutantProvider::make_missing(const VolumeRef& volume) {
  if (mutation_ != Mutation::kMarkerIgnored) return;
  const auto found = node_.volumes.find(volume);
  if (found != node_.volumes.end() && found->second.present) return;
  node_.volumes[volume] = SimVolume{};
  node_.volumes[volume].provider = provider_.name();
  ++node_.changes;
}

Task<Result<void>> MutantProvider::delete_volume(const VolumeRef& volume, const CallContext& call) {
  COVE_CO_TRY_VOID(co_await provider_.delete_volume(volume, call));
  if (mutation_ != Mutation::kDeleteIgnoresGeneration) co_return ok();
  std::vector<VolumeRef> all;
  for (const auto& [other, content] : node_.volumes) {
    if (other.sandbox == volume.sandbox) all.push_back(other);
  }
  for (const VolumeRef& other : all) (void)node_.erase(other);
  co_return ok();
}

Task<Result<std::unique_ptr<OfflineVolume>>> MutantProvider::open_volume(const VolumeRef& volume,
                                                                         VolumeAccess access,
                                                                         const CallContext& call) {
  make_missing(volume);
  auto opened = co_await provider_.open_volume(volume, access, call);
  if (opened && mutation_ == Mutation::kRestoreUnsynced) {
    dynamic_cast<SimOfflineVolume&>(**opened).pretend_to_sync();
  }
  co_return opened;
}

Task<Result<void>> MutantProvider::start_instance(const InstanceRef& instance,
                                                  const SandboxPolicy& policy,
                                                  const CallContext& call) {
  make_missing(instance.volume);
  co_return co_await provider_.start_instance(instance, policy, call);
}

Task<Result<InstanceStatus>> MutantProvider::inspect(const InstanceRef& instance,
                                                     const CallContext& call) {
  COVE_CO_TRY(InstanceStatus status, co_await provider_.inspect(instance, call));
  if (mutation_ == Mutation::kLostByGuess) status.state = InstanceState::kGone;
  co_return status;
}

bool MutantSnapshotter::deletes_first(const SandboxId& sandbox) const {
  if (mutation_ == Mutation::kDeleteBeforeVerify) return true;
  const Record* record = state_.find(sandbox);
  return mutation_ == Mutation::kRelocateDeletesFirst && record != nullptr && record->operation &&
         record->operation->kind == OperationKind::kRelocate;
}

Task<Result<SnapshotRef>> MutantSnapshotter::save(OfflineVolume& volume, const SnapshotOwner& owner,
                                                  const OperationId& attempt,
                                                  const CallContext& call) {
  auto saved = co_await snapshotter_.save(volume, owner, attempt, call);
  if (saved && deletes_first(owner.sandbox)) {
    auto& opened = dynamic_cast<SimOfflineVolume&>(volume);
    opened.content().opened_by = nullptr;
    (void)opened.node().erase(opened.volume());
  }
  co_return saved;
}

Task<Result<void>> MutantSnapshotter::verify(const SnapshotRef& snapshot, const CallContext& call) {
  if (mutation_ == Mutation::kVerifySkipped) co_return ok();
  co_return co_await snapshotter_.verify(snapshot, call);
}

Task<Result<void>> MutantSnapshotter::restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                                              const CallContext& call) {
  if (mutation_ != Mutation::kHalfRestore) {
    co_return co_await snapshotter_.restore(snapshot, volume, call);
  }
  auto& target = dynamic_cast<SimOfflineVolume&>(volume);
  for (const SnapshotObject& object : snapshot.objects) {
    const auto found = objects_.objects.find(object.key.str());
    if (found == objects_.objects.end() || found->second.broken) continue;
    target.content().files.insert(found->second.files.begin(), found->second.files.end());
  }
  co_return co_await target.sync(call);
}

}  // namespace cove::testing

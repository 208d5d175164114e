#include "support/sim/sim_snapshotter.hpp"

#include <algorithm>
#include <utility>

namespace cove::testing {
namespace {

constexpr std::size_t kPieces = 2;

std::string prefix_of(const SnapshotOwner& owner, const OperationId& attempt) {
  std::string prefix = "cove/v1/" + owner.deployment.str() + "/" + owner.sandbox.str() + "/" +
                       owner.incarnation.str() + "/";
  if (!attempt.empty()) prefix += attempt.str() + "/";
  return prefix;
}

/// The files that go into one piece of a snapshot.
SimFiles piece_of(const SimFiles& files, std::size_t piece) {
  SimFiles chosen;
  std::size_t i = 0;
  for (const auto& [name, content] : files) {
    if (i++ % kPieces == piece) chosen[name] = content;
  }
  return chosen;
}

bool refers_to(const std::optional<SnapshotRef>& snapshot, const std::string& key) {
  return snapshot && std::any_of(snapshot->objects.begin(), snapshot->objects.end(),
                                 [&](const auto& object) { return object.key.str() == key; });
}

}  // namespace

Task<Result<SnapshotRef>> SimSnapshotter::save(OfflineVolume& volume, const SnapshotOwner& owner,
                                               const OperationId& attempt,
                                               const CallContext& call) {
  auto& source = dynamic_cast<SimOfflineVolume&>(volume);
  const SimFiles files = source.content().files;
  SnapshotRef snapshot;
  snapshot.entries = files.size();
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    const std::string key = prefix_of(owner, attempt) + std::to_string(piece);
    const SimFiles content = piece_of(files, piece);
    const auto effect = [this, key, content]() -> Result<void> {
      SimWorld& world = host_.world();
      const SimObjects::Object object{content, world.spoils()};
      const auto [found, added] = objects_.objects.try_emplace(key, object);
      const bool same = found->second.files == content;
      if (!added && !same) world.violation("object " + key + " was written twice");
      return ok();
    };
    COVE_CO_TRY_VOID(co_await remote<void>(host_, "upload", effect, call));
    SnapshotObject object;
    object.key = ObjectKey(key);
    object.size = content.size();
    snapshot.objects.push_back(object);
  }
  co_return snapshot;
}

Result<void> SimSnapshotter::check(const SnapshotRef& snapshot) const {
  for (const SnapshotObject& object : snapshot.objects) {
    const auto found = objects_.objects.find(object.key.str());
    if (found == objects_.objects.end()) {
      return Error(ErrorCode::kIntegrity, "object " + object.key.str() + " is missing");
    }
    if (found->second.broken) {
      return Error(ErrorCode::kIntegrity, "object " + object.key.str() + " has another checksum");
    }
  }
  return ok();
}

Task<Result<void>> SimSnapshotter::verify(const SnapshotRef& snapshot, const CallContext& call) {
  const auto effect = [this, snapshot] { return check(snapshot); };
  co_return co_await remote<void>(host_, "verify", effect, call);
}

Task<Result<void>> SimSnapshotter::restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                                           const CallContext& call) {
  auto& target = dynamic_cast<SimOfflineVolume&>(volume);
  if (!target.content().files.empty()) {
    host_.world().violation("a snapshot was restored into a volume that is not empty");
  }
  // Only the bytes that were checked are written.
  COVE_CO_TRY_VOID(co_await verify(snapshot, call));
  for (const SnapshotObject& object : snapshot.objects) {
    const auto effect = [this, key = object.key.str()]() -> Result<SimFiles> {
      const auto found = objects_.objects.find(key);
      if (found == objects_.objects.end()) {
        return Error(ErrorCode::kIntegrity, "object " + key + " is missing");
      }
      return found->second.files;
    };
    COVE_CO_TRY(const SimFiles files, co_await remote<SimFiles>(host_, "download", effect, call));
    for (const auto& [name, content] : files) target.content().files[name] = content;
  }
  co_return co_await target.sync(call);
}

void SimSnapshotter::erase(const std::string& key) {
  for (const Record& record : store_.records()) {
    const bool destroyed = record.operation && record.operation->kind == OperationKind::kDestroy;
    const bool used = refers_to(record.snapshot, key) ||
                      (record.operation && refers_to(record.operation->snapshot, key));
    if (used && !destroyed) host_.world().violation("object " + key + " was deleted in use");
  }
  objects_.objects.erase(key);
  ++objects_.changes;
}

Task<Result<void>> SimSnapshotter::remove(const SnapshotRef& snapshot, const CallContext& call) {
  const auto effect = [this, snapshot]() -> Result<void> {
    for (const SnapshotObject& object : snapshot.objects) erase(object.key.str());
    return ok();
  };
  co_return co_await remote<void>(host_, "remove snapshot", effect, call);
}

Task<Result<void>> SimSnapshotter::remove_all(const SnapshotOwner& owner,
                                              const OperationId& attempt, const CallContext& call) {
  const std::string prefix = prefix_of(owner, attempt);
  const auto effect = [this, prefix]() -> Result<void> {
    std::vector<std::string> keys;
    for (const auto& [key, object] : objects_.objects) {
      if (key.starts_with(prefix)) keys.push_back(key);
    }
    for (const std::string& key : keys) erase(key);
    return ok();
  };
  co_return co_await remote<void>(host_, "remove objects", effect, call);
}

}  // namespace cove::testing

#include "snapshot/snapshot_list.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "snapshot/manifest.hpp"

namespace cove::snapshot {
namespace {

constexpr std::string_view kRoot = "cove/v1/";
constexpr std::string_view kManifestName = "/manifest.json";
constexpr std::uint32_t kPage = 1000;

Task<Result<std::string>> read_text(ObjectStore& store, ObjectKey key, const CallContext& call) {
  COVE_CO_TRY(const auto source, co_await store.get(key, call));
  std::string text;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source->next(call));
    if (piece.empty()) co_return text;
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (text.size() > kMaxManifest) {
      co_return Error(ErrorCode::kIntegrity, "it is too large for a manifest");
    }
  }
}

FoundSnapshot found_of(const Manifest& manifest, const ObjectInfo& object,
                       const std::string& text) {
  FoundSnapshot found;
  found.owner = manifest.owner;
  found.attempt = manifest.attempt;
  found.snapshot = reference_of(manifest, {object.key, object.size, base::sha256_hex(text)});
  return found;
}

/// What is wrong with the place or the data of a manifest; empty = nothing that can be seen without
/// reading all of it.
Task<Result<std::string>> problem_of(ObjectStore& store, const Manifest& manifest, ObjectKey key,
                                     const CallContext& call) {
  const auto prefix = prefix_of(manifest.owner, manifest.attempt);
  if (!prefix || *prefix + "manifest.json" != key.str()) {
    co_return std::string("'" + key.str() + "' is the manifest of another place");
  }
  const SnapshotRef snapshot = reference_of(manifest, {});
  // All but the manifest itself, which is here.
  for (std::size_t i = 0; i + 1 < snapshot.objects.size(); ++i) {
    const SnapshotObject& object = snapshot.objects[i];
    const auto data = co_await store.stat(object.key, call);
    if (!data && data.error().code() != ErrorCode::kNotFound) co_return data.error();
    if (!data) co_return std::string("'" + object.key.str() + "' is missing");
    if (data->size == object.size) continue;
    co_return std::string("'" + object.key.str() + "' has " + std::to_string(data->size) +
                          " bytes, not its " + std::to_string(object.size));
  }
  co_return std::string();
}

/// What a manifest's place says: `cove/v1/<deployment>/<sandbox>/<incarnation>/<attempt>/`.
void read_place(const std::string& key, FoundSnapshot& found) {
  std::vector<std::string> parts;
  std::size_t begin = kRoot.size();
  for (std::size_t end = key.find('/', begin); end != std::string::npos;
       end = key.find('/', begin)) {
    parts.push_back(key.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() != 4) return;
  found.owner.deployment = DeploymentId(parts[0]);
  found.owner.sandbox = SandboxId(parts[1]);
  found.owner.incarnation = Incarnation(parts[2]);
  found.attempt = OperationId(parts[3]);
}

/// One manifest; one that is none has only its place and its problem.
Task<Result<FoundSnapshot>> look_at(ObjectStore& store, ObjectInfo object,
                                    const CallContext& call) {
  FoundSnapshot damaged;
  const auto text = co_await read_text(store, object.key, call);
  if (!text && text.error().code() != ErrorCode::kIntegrity) co_return text.error();
  const auto manifest = text ? parse_manifest(*text) : Result<Manifest>(text.error());
  if (!manifest) {
    read_place(object.key.str(), damaged);
    damaged.problem = "'" + object.key.str() + "': " + manifest.error().message();
    co_return damaged;
  }
  FoundSnapshot found = found_of(*manifest, object, *text);
  COVE_CO_TRY(found.problem, co_await problem_of(store, *manifest, object.key, call));
  co_return found;
}

}  // namespace

Task<Result<std::vector<DeploymentId>>> list_deployments(ObjectStore& store,
                                                         const CallContext& call) {
  const std::string root(kRoot);
  std::vector<DeploymentId> deployments;
  std::string after;
  for (;;) {
    COVE_CO_TRY(const ObjectPage page, co_await store.list(root, after, 1, call));
    if (page.objects.empty()) co_return deployments;
    const std::string& key = page.objects[0].key.str();
    const std::size_t end = key.find('/', kRoot.size());
    after = key;
    if (end == std::string::npos) continue;
    const std::string name = key.substr(kRoot.size(), end - kRoot.size());
    deployments.emplace_back(name);
    // '0' is the byte behind '/': everything of this deployment lies before it.
    after = root + name + "0";
  }
}

Task<Result<FoundSnapshots>> list_snapshots(ObjectStore& store, DeploymentId deployment,
                                            std::string after, const CallContext& call) {
  const std::string prefix = std::string(kRoot) + deployment.str() + "/";
  COVE_CO_TRY(const ObjectPage page, co_await store.list(prefix, after, kPage, call));
  FoundSnapshots snapshots;
  snapshots.next = page.next;
  for (const ObjectInfo& object : page.objects) {
    if (!object.key.str().ends_with(kManifestName)) continue;
    COVE_CO_TRY(auto found, co_await look_at(store, object, call));
    snapshots.found.push_back(std::move(found));
  }
  co_return snapshots;
}

}  // namespace cove::snapshot

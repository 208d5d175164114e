#include "snapshot/manifest.hpp"

#include <nlohmann/json.hpp>

#include <cove/object_store.hpp>

#include "base/text/hex.hpp"
#include "base/text/json.hpp"

namespace cove::snapshot {
namespace {

using nlohmann::json;

Error not_a_manifest(const std::string& field) {
  return {ErrorCode::kIntegrity, "the manifest has no valid '" + field + "'"};
}

const json* member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

Result<std::string> text_of(const json& object, const char* name) {
  const json* const value = member(object, name);
  if (value == nullptr || !value->is_string()) return not_a_manifest(name);
  return value->get<std::string>();
}

Result<std::uint64_t> number_of(const json& object, const char* name) {
  const json* const value = member(object, name);
  if (value == nullptr || !value->is_number_unsigned()) return not_a_manifest(name);
  return value->get<std::uint64_t>();
}

Result<void> read_owner(const json& from, Manifest& to) {
  COVE_TRY(std::string deployment, text_of(from, "deployment"));
  COVE_TRY(std::string sandbox, text_of(from, "sandbox"));
  COVE_TRY(std::string incarnation, text_of(from, "incarnation"));
  COVE_TRY(std::string attempt, text_of(from, "attempt"));
  to.owner.deployment = DeploymentId(std::move(deployment));
  to.owner.sandbox = SandboxId(std::move(sandbox));
  to.owner.incarnation = Incarnation(std::move(incarnation));
  to.attempt = OperationId(std::move(attempt));
  // Older ones do not say it.
  const json* const saved_at = member(from, "saved_at");
  if (saved_at != nullptr && saved_at->is_number_unsigned()) {
    to.owner.saved_at = StoreTime(std::chrono::milliseconds(saved_at->get<std::int64_t>()));
  }
  const json* const key = member(from, "key");
  if (key == nullptr) return not_a_manifest("key");
  COVE_TRY(to.owner.key.source_type, text_of(*key, "source_type"));
  COVE_TRY(to.owner.key.source_id, text_of(*key, "source_id"));
  COVE_TRY(to.owner.key.user_id, text_of(*key, "user_id"));
  return {};
}

Result<SavedTree> read_tree(const json& from) {
  SavedTree tree;
  const json* const data = member(from, "data");
  if (data == nullptr) return not_a_manifest("data");
  COVE_TRY(std::string key, text_of(*data, "key"));
  tree.data.key = ObjectKey(std::move(key));
  if (!validate(tree.data.key)) return not_a_manifest("data.key");
  COVE_TRY(tree.data.size, number_of(*data, "size"));
  COVE_TRY(tree.data.sha256, text_of(*data, "sha256"));
  if (!base::is_hex(tree.data.sha256, 64)) return not_a_manifest("data.sha256");
  COVE_TRY(tree.counts.entries, number_of(from, "entries"));
  COVE_TRY(tree.counts.content_bytes, number_of(from, "content_bytes"));
  const json* const skipped = member(from, "skipped");
  if (skipped == nullptr) return not_a_manifest("skipped");
  COVE_TRY(tree.counts.sockets, number_of(*skipped, "sockets"));
  COVE_TRY(tree.counts.devices, number_of(*skipped, "devices"));
  return tree;
}

void write_tree(const SavedTree& tree, json& to) {
  to["data"]["key"] = tree.data.key.str();
  to["data"]["size"] = tree.data.size;
  to["data"]["sha256"] = tree.data.sha256;
  to["entries"] = tree.counts.entries;
  to["content_bytes"] = tree.counts.content_bytes;
  to["skipped"]["sockets"] = tree.counts.sockets;
  to["skipped"]["devices"] = tree.counts.devices;
}

std::uint32_t format_of(const Manifest& manifest) {
  return manifest.home ? kFormatWithHome : kFormat;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  const WorkspaceKey& key = manifest.owner.key;
  json text;
  text["format"] = format_of(manifest);
  text["deployment"] = manifest.owner.deployment.str();
  text["sandbox"] = manifest.owner.sandbox.str();
  text["incarnation"] = manifest.owner.incarnation.str();
  text["attempt"] = manifest.attempt.str();
  text["saved_at"] = manifest.owner.saved_at.time_since_epoch().count();
  text["key"]["source_type"] = key.source_type;
  text["key"]["source_id"] = key.source_id;
  text["key"]["user_id"] = key.user_id;
  write_tree(manifest.workspace, text);
  if (manifest.home) write_tree(*manifest.home, text["home"]);
  return base::dump_json_pretty(text) + "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
  const Result<json> parsed = base::parse_json(text);
  if (!parsed) {
    return Error(ErrorCode::kIntegrity, "the manifest is not valid JSON")
        .with_cause(parsed.error());
  }
  COVE_TRY(const std::uint64_t format, number_of(*parsed, "format"));
  if (format != kFormat && format != kFormatWithHome) {
    return Error(ErrorCode::kUnsupported, "the manifest is of format " + std::to_string(format) +
                                              "; this version reads the formats 1 and 2");
  }
  Manifest manifest;
  COVE_TRY_VOID(read_owner(*parsed, manifest));
  COVE_TRY(manifest.workspace, read_tree(*parsed));
  if (format == kFormat) return manifest;
  const json* const home = member(*parsed, "home");
  if (home == nullptr) return not_a_manifest("home");
  COVE_TRY(manifest.home, read_tree(*home));
  return manifest;
}

SnapshotRef reference_of(const Manifest& manifest, SnapshotObject object) {
  SnapshotRef snapshot;
  snapshot.format = format_of(manifest);
  const auto add = [&snapshot](const SavedTree& tree) {
    snapshot.objects.push_back(tree.data);
    snapshot.entries += tree.counts.entries;
    snapshot.content_bytes += tree.counts.content_bytes;
  };
  add(manifest.workspace);
  if (manifest.home) add(*manifest.home);
  snapshot.objects.push_back(std::move(object));
  return snapshot;
}

Result<std::string> prefix_of(const SnapshotOwner& owner, const OperationId& attempt) {
  std::string prefix = "cove/v1/" + owner.deployment.str() + "/" + owner.sandbox.str() + "/" +
                       owner.incarnation.str();
  if (!attempt.empty()) prefix += "/" + attempt.str();
  // An empty part would widen the prefix to somebody else's objects: it is no valid key.
  const Result<void> valid = validate(ObjectKey(prefix));
  if (!valid) return valid.error();
  return prefix + "/";
}

}  // namespace cove::snapshot

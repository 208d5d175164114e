// The record's JSON form, version 3 where it says what version 2 cannot, else 2 (1 is read too):
// docs/formats.md, section "Record".
#include <algorithm>

#include <nlohmann/json.hpp>

#include <cove/record.hpp>

#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"
#include "lifecycle/rules/transitions.hpp"

namespace cove {
namespace {

using lifecycle::JsonReader;
using nlohmann::json;

constexpr std::uint64_t kWithPlaces = 3;
constexpr std::uint64_t kWithDrain = 2;
constexpr std::uint64_t kWithoutDrain = 1;

/// An older Cove beside this one reads version 2: it is given up only where it does not do.
std::uint64_t version_of(const Record& record) {
  const bool elsewhere =
      std::any_of(record.garbage.begin(), record.garbage.end(), [&](const Garbage& garbage) {
        const auto* volume = std::get_if<GarbageVolume>(&garbage);
        return volume != nullptr && volume->provider != record.provider;
      });
  const bool moves = record.operation && record.operation->kind == OperationKind::kRelocate;
  return elsewhere || moves ? kWithPlaces : kWithDrain;
}

std::int64_t millis(StoreTime time) { return time.time_since_epoch().count(); }

json write_snapshot(const std::optional<SnapshotRef>& snapshot) {
  if (!snapshot) return nullptr;
  json objects = json::array();
  for (const SnapshotObject& object : snapshot->objects) {
    objects.push_back(
        {{"key", object.key.str()}, {"size", object.size}, {"sha256", object.sha256}});
  }
  return {{"format", snapshot->format},
          {"objects", std::move(objects)},
          {"entries", snapshot->entries},
          {"content_bytes", snapshot->content_bytes}};
}

json write_place(const std::optional<Location>& place) {
  if (!place) return nullptr;
  return {{"provider", place->provider}, {"node", place->node.str()}};
}

json write_operation(const std::optional<Operation>& operation, std::uint64_t version) {
  if (!operation) return nullptr;
  json map = {{"id", operation->id.str()},
              {"kind", name_of(operation->kind)},
              {"phase", name_of(operation->phase)},
              {"owner", operation->owner.str()},
              {"attempt", operation->attempt},
              {"started_at", millis(operation->started_at)},
              {"heartbeat_at", millis(operation->heartbeat_at)},
              {"drain_until", millis(operation->drain_until)},
              {"generation", operation->generation.str()},
              {"epoch", number_of(operation->epoch)},
              {"snapshot", write_snapshot(operation->snapshot)},
              {"error", operation->error}};
  if (version >= kWithPlaces) map["to"] = write_place(operation->to);
  return map;
}

json write_garbage(const Garbage& garbage, std::uint64_t version) {
  if (const auto* volume = std::get_if<GarbageVolume>(&garbage)) {
    json map = {{"kind", "volume"},
                {"node", volume->node.str()},
                {"generation", volume->generation.str()},
                {"epoch", number_of(volume->epoch)}};
    if (version >= kWithPlaces) map["provider"] = volume->provider;
    return map;
  }
  if (const auto* snapshot = std::get_if<GarbageSnapshot>(&garbage)) {
    return {{"kind", "snapshot"}, {"snapshot", write_snapshot(snapshot->snapshot)}};
  }
  return {{"kind", "attempt"}, {"attempt", std::get<GarbageAttempt>(garbage).attempt.str()}};
}

Result<SnapshotRef> read_snapshot(const json& value) {
  JsonReader reader(value, "snapshot");
  SnapshotRef snapshot;
  snapshot.format = reader.small_number("format");
  snapshot.entries = reader.number("entries");
  snapshot.content_bytes = reader.number("content_bytes");
  for (const json& element : reader.array("objects")) {
    JsonReader object(element, "snapshot object");
    snapshot.objects.push_back(
        {object.id<ObjectKey>("key"), object.number("size"), object.text("sha256")});
    reader.merge(object.finish());
  }
  COVE_TRY_VOID(reader.finish());
  return snapshot;
}

void read_optional_snapshot(JsonReader& reader, std::optional<SnapshotRef>& out) {
  const json* value = reader.optional("snapshot");
  if (value == nullptr) return;
  auto snapshot = read_snapshot(*value);
  if (snapshot) {
    out = *std::move(snapshot);
  } else {
    reader.merge(snapshot.error());
  }
}

void read_place(JsonReader& outer, std::optional<Location>& out) {
  const json* value = outer.optional("to");
  if (value == nullptr) return;
  JsonReader reader(*value, "to");
  out = Location{reader.text("provider"), reader.id<NodeId>("node")};
  outer.merge(reader.finish());
}

Result<Operation> read_operation(const json& value, std::uint64_t version) {
  JsonReader reader(value, "operation");
  Operation operation;
  operation.id = reader.id<OperationId>("id");
  operation.kind = reader.name<OperationKind>("kind", lifecycle::kAllKinds);
  operation.phase = reader.name<Phase>("phase", lifecycle::kAllPhases);
  operation.owner = reader.id<OwnerId>("owner");
  operation.attempt = reader.small_number("attempt");
  operation.started_at = reader.time("started_at");
  operation.heartbeat_at = reader.time("heartbeat_at");
  if (version != kWithoutDrain) operation.drain_until = reader.time("drain_until");
  operation.generation = reader.id<Generation>("generation");
  operation.epoch = Epoch(reader.number("epoch"));
  read_optional_snapshot(reader, operation.snapshot);
  operation.error = reader.text("error");
  if (version >= kWithPlaces) read_place(reader, operation.to);
  COVE_TRY_VOID(reader.finish());
  return operation;
}

/// `provider`: whose a volume is of which an older version says nothing.
Result<Garbage> read_garbage(const json& value, std::uint64_t version,
                             const std::string& provider) {
  JsonReader reader(value, "garbage");
  const std::string kind = reader.text("kind");
  Garbage garbage;
  if (kind == "volume") {
    GarbageVolume volume{reader.id<NodeId>("node"), reader.id<Generation>("generation"),
                         Epoch(reader.number("epoch")), provider};
    if (version >= kWithPlaces) volume.provider = reader.text("provider");
    garbage = std::move(volume);
  } else if (kind == "snapshot") {
    const json* inner = reader.member("snapshot");
    if (inner == nullptr) return reader.finish().error();
    COVE_TRY(auto snapshot, read_snapshot(*inner));
    garbage = GarbageSnapshot{std::move(snapshot)};
  } else if (kind == "attempt") {
    garbage = GarbageAttempt{reader.id<OperationId>("attempt")};
  } else {
    reader.fail("kind is unknown: '" + kind + "'");
  }
  COVE_TRY_VOID(reader.finish());
  return garbage;
}

void read_parts(JsonReader& reader, std::uint64_t version, Record& record) {
  for (const json& element : reader.array("activity")) {
    JsonReader lease(element, "activity");
    record.activity.push_back({lease.id<OwnerId>("owner"), lease.time("expires_at")});
    reader.merge(lease.finish());
  }
  for (const json& element : reader.array("garbage")) {
    auto garbage = read_garbage(element, version, record.provider);
    if (garbage) {
      record.garbage.push_back(*std::move(garbage));
    } else {
      reader.merge(garbage.error());
    }
  }
  if (const json* value = reader.optional("operation")) {
    auto operation = read_operation(*value, version);
    if (operation) {
      record.operation = *std::move(operation);
    } else {
      reader.merge(operation.error());
    }
  }
}

/// What the rules rely on without looking again.
void check_sense(JsonReader& reader, const Record& record) {
  const auto& operation = record.operation;
  if (record.sandbox_id.empty() || record.incarnation.empty()) reader.fail("it has no name");
  if (operation && !lifecycle::row_of(record)) {
    reader.fail("no operation can be " + std::string(name_of(operation->kind)) + " at " +
                std::string(name_of(operation->phase)) + " while " +
                std::string(name_of(record.state)));
  }
  if (operation && operation->id.empty()) reader.fail("its operation has no id");
  const auto row = lifecycle::row_of(record);
  const bool archives = row && lifecycle::is_archiving(*row);
  if (operation &&
      operation->snapshot.has_value() != (archives && operation->phase != Phase::kClaimed)) {
    reader.fail("its operation has a snapshot before an upload, or none after it");
  }
  const bool leaves = archives && operation->kind == OperationKind::kRelocate;
  if (operation && operation->to.has_value() != leaves) {
    reader.fail("its relocate goes nowhere, or what is none goes somewhere");
  }
  const bool has_volume =
      record.state == SandboxState::kRunning || record.state == SandboxState::kStopped;
  if (has_volume && record.generation.empty()) reader.fail("it has no volume");
  if (record.state == SandboxState::kArchived && !record.snapshot)
    reader.fail("it has no snapshot");
}

Result<Record> read_record(const json& value) {
  JsonReader reader(value, "record");
  Record record;
  const std::uint64_t version = reader.number("version");
  if (version < kWithoutDrain || version > kWithPlaces) {
    return Error(ErrorCode::kIntegrity, "not a record of version 1, 2 or 3");
  }
  record.sandbox_id = reader.id<SandboxId>("sandbox_id");
  record.state = reader.name<SandboxState>("state", lifecycle::kAllStates);
  record.provider = reader.text("provider");
  record.node = reader.id<NodeId>("node");
  record.incarnation = reader.id<Incarnation>("incarnation");
  record.generation = reader.id<Generation>("generation");
  record.epoch = Epoch(reader.number("epoch"));
  read_optional_snapshot(reader, record.snapshot);
  record.created_at = reader.time("created_at");
  record.last_active_at = reader.time("last_active_at");
  record.failures = reader.small_number("failures");
  record.failed_at = reader.time("failed_at");
  record.needs_attention = reader.text("needs_attention");
  if (const json* inner = reader.member("key")) {
    JsonReader key(*inner, "key");
    record.key = {key.text("source_type"), key.text("source_id"), key.text("user_id")};
    reader.merge(key.finish());
  }
  read_parts(reader, version, record);
  check_sense(reader, record);
  COVE_TRY_VOID(reader.finish());
  return record;
}

}  // namespace

std::string to_json(const Record& record) {
  const std::uint64_t version = version_of(record);
  json activity = json::array();
  for (const ActivityLease& lease : record.activity) {
    activity.push_back({{"owner", lease.owner.str()}, {"expires_at", millis(lease.expires_at)}});
  }
  json garbage = json::array();
  for (const Garbage& item : record.garbage) garbage.push_back(write_garbage(item, version));
  const json key = {{"source_type", record.key.source_type},
                    {"source_id", record.key.source_id},
                    {"user_id", record.key.user_id}};
  return base::dump_json({{"version", version},
                          {"sandbox_id", record.sandbox_id.str()},
                          {"key", key},
                          {"state", name_of(record.state)},
                          {"provider", record.provider},
                          {"node", record.node.str()},
                          {"incarnation", record.incarnation.str()},
                          {"generation", record.generation.str()},
                          {"epoch", number_of(record.epoch)},
                          {"snapshot", write_snapshot(record.snapshot)},
                          {"created_at", millis(record.created_at)},
                          {"last_active_at", millis(record.last_active_at)},
                          {"activity", std::move(activity)},
                          {"garbage", std::move(garbage)},
                          {"operation", write_operation(record.operation, version)},
                          {"failures", record.failures},
                          {"failed_at", millis(record.failed_at)},
                          {"needs_attention", record.needs_attention}});
}

Result<Record> parse_record(std::string_view text) {
  auto parsed = base::parse_json(text);
  if (!parsed) return Error(ErrorCode::kIntegrity, "not a record").with_cause(parsed.error());
  return read_record(*parsed);
}

}  // namespace cove

#include "lifecycle/records/tombstone.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"

namespace cove::lifecycle {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 2;
constexpr std::uint64_t kWithoutProviders = 1;

Grave read_grave(JsonReader& outer, const json& value, std::uint64_t version) {
  JsonReader reader(value, "grave");
  Grave grave;
  grave.incarnation = reader.id<Incarnation>("incarnation");
  grave.destroyed_at = reader.time("destroyed_at");
  if (const json* inner = reader.member("key")) {
    JsonReader key(*inner, "key");
    grave.key = {key.text("source_type"), key.text("source_id"), key.text("user_id")};
    reader.merge(key.finish());
  }
  for (const json& element : reader.array("volumes")) {
    JsonReader volume(element, "volume");
    GarbageVolume& read = grave.volumes.emplace_back();
    read.node = volume.id<NodeId>("node");
    read.generation = volume.id<Generation>("generation");
    read.epoch = Epoch(volume.number("epoch"));
    if (version != kWithoutProviders) read.provider = volume.text("provider");
    reader.merge(volume.finish());
  }
  if (grave.incarnation.empty()) reader.fail("it has no incarnation");
  outer.merge(reader.finish());
  return grave;
}

json write_grave(const Grave& grave) {
  json volumes = json::array();
  for (const GarbageVolume& volume : grave.volumes) {
    volumes.push_back({{"node", volume.node.str()},
                       {"generation", volume.generation.str()},
                       {"epoch", number_of(volume.epoch)},
                       {"provider", volume.provider}});
  }
  return {{"incarnation", grave.incarnation.str()},
          {"destroyed_at", grave.destroyed_at.time_since_epoch().count()},
          {"key",
           {{"source_type", grave.key.source_type},
            {"source_id", grave.key.source_id},
            {"user_id", grave.key.user_id}}},
          {"volumes", std::move(volumes)}};
}

}  // namespace

Grave grave_of(const Record& record, StoreTime now) {
  Grave grave{record.incarnation, record.key, now, {}};
  if (!record.generation.empty()) {
    grave.volumes.push_back({record.node, record.generation, record.epoch, record.provider});
  }
  for (const Garbage& garbage : record.garbage) {
    if (const auto* volume = std::get_if<GarbageVolume>(&garbage)) grave.volumes.push_back(*volume);
  }
  return grave;
}

Tombstone bury(Tombstone tombstone, Grave grave) {
  std::erase_if(tombstone.graves,
                [&](const Grave& known) { return known.incarnation == grave.incarnation; });
  tombstone.graves.push_back(std::move(grave));
  return tombstone;
}

bool is_due(const Tombstone& tombstone, std::size_t index, StoreTime now,
            std::chrono::milliseconds keep) {
  const bool too_many = index + kMaxGraves < tombstone.graves.size();
  return too_many || tombstone.graves[index].destroyed_at + keep <= now;
}

std::string to_json(const Tombstone& tombstone) {
  json graves = json::array();
  for (const Grave& grave : tombstone.graves) graves.push_back(write_grave(grave));
  return base::dump_json({{"version", kVersion},
                          {"sandbox_id", tombstone.sandbox_id.str()},
                          {"graves", std::move(graves)}});
}

Result<Tombstone> parse_tombstone(std::string_view text) {
  auto parsed = base::parse_json(text);
  if (!parsed) return Error(ErrorCode::kIntegrity, "not a tombstone").with_cause(parsed.error());
  JsonReader reader(*parsed, "tombstone");
  const std::uint64_t version = reader.number("version");
  if (version != kVersion && version != kWithoutProviders) {
    return Error(ErrorCode::kIntegrity, "not a tombstone of version 1 or 2");
  }
  Tombstone tombstone;
  tombstone.sandbox_id = reader.id<SandboxId>("sandbox_id");
  for (const json& element : reader.array("graves")) {
    tombstone.graves.push_back(read_grave(reader, element, version));
  }
  COVE_TRY_VOID(reader.finish());
  return tombstone;
}

}  // namespace cove::lifecycle

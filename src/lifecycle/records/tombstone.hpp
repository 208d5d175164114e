/// What a destroyed sandbox leaves for a time, so that what a late hand still made for it is swept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cove/record.hpp>
#include <cove/result.hpp>

namespace cove::lifecycle {

/// One life of a sandbox that ended.
struct Grave {
  Incarnation incarnation;
  WorkspaceKey key;
  StoreTime destroyed_at{};
  std::vector<GarbageVolume> volumes;  ///< every one that it may have left
};

/// The document of kind kTombstone, named by the sandbox id; docs/formats.md has its JSON form.
struct Tombstone {
  SandboxId sandbox_id;
  std::vector<Grave> graves;  ///< oldest first
};

/// More lives of one sandbox than this are not remembered for the whole time: the oldest go first.
inline constexpr std::size_t kMaxGraves = 200;

/// What a record that is being destroyed leaves.
Grave grave_of(const Record& record, StoreTime now);

/// Adds a grave; one of the same incarnation is replaced.
Tombstone bury(Tombstone tombstone, Grave grave);

/// True where a grave has been kept long enough.
bool is_due(const Tombstone& tombstone, std::size_t index, StoreTime now,
            std::chrono::milliseconds keep);

std::string to_json(const Tombstone& tombstone);

/// kIntegrity - not a tombstone of a version known here.
Result<Tombstone> parse_tombstone(std::string_view json);

}  // namespace cove::lifecycle

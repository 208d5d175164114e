/// The marker of a volume: says whose it is, outside the sandbox's view, written last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cove/provider.hpp>
#include <cove/result.hpp>

namespace cove::local {

/// 65,536 host ids that belong to one volume.
struct UidRange {
  static constexpr std::uint32_t kCount = 65536;
  std::uint32_t first = 0;

  friend bool operator==(const UidRange&, const UidRange&) = default;
};

struct VolumeMarker {
  VolumeRef volume;
  std::optional<UidRange> range;  ///< none: everything belongs to the host's one user
};

inline constexpr const char* kMarkerName = "marker";

/// What a volume's name begins with once its deletion has begun.
inline constexpr std::string_view kRetiredPrefix = ".dead-";

std::string to_json(const VolumeMarker& marker);

/// kIntegrity: no marker of a version known here.
Result<VolumeMarker> parse_volume_marker(std::string_view json);

/// Reads the marker of a volume's directory. kNotFound, also where it is empty: the machine crashed
/// before it was synced, so the volume was never finished. kIntegrity.
Result<VolumeMarker> read_marker(int volume_directory);

/// How the sandbox's ids relate to the host's.
IdMapping id_mapping_of(const VolumeMarker& marker) noexcept;

}  // namespace cove::local

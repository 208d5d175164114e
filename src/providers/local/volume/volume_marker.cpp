#include "providers/local/volume/volume_marker.hpp"

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

namespace {

constexpr std::uint32_t kVersion = 1;

Error damaged(const std::string& why) {
  return {ErrorCode::kIntegrity, "the marker of a volume is damaged: " + why};
}

}  // namespace

std::string to_json(const VolumeMarker& marker) {
  nlohmann::json document = {
      {"version", kVersion},
      {"deployment", marker.volume.deployment.str()},
      {"sandbox", marker.volume.sandbox.str()},
      {"generation", marker.volume.generation.str()},
  };
  if (marker.range) document["first_uid"] = marker.range->first;
  return base::dump_json(document);
}

Result<VolumeMarker> parse_volume_marker(std::string_view json) {
  const auto document = base::parse_json(json);
  if (!document) return damaged(document.error().message());
  if (!document->is_object()) return damaged("not an object");
  const auto text = [&](const char* key) -> std::string {
    const auto found = document->find(key);
    return found != document->end() && found->is_string() ? found->get<std::string>()
                                                          : std::string();
  };
  const auto version = document->find("version");
  if (version == document->end() || *version != kVersion) return damaged("unknown version");
  VolumeMarker marker{{DeploymentId(text("deployment")), SandboxId(text("sandbox")),
                       Generation(text("generation"))},
                      std::nullopt};
  if (marker.volume.deployment.empty() || marker.volume.sandbox.empty() ||
      marker.volume.generation.empty()) {
    return damaged("it names no volume");
  }
  const auto first = document->find("first_uid");
  if (first == document->end()) return marker;
  if (!first->is_number_unsigned() || first->get<std::uint64_t>() == 0 ||
      first->get<std::uint64_t>() > UINT32_MAX - UidRange::kCount) {
    return damaged("first_uid is no id");
  }
  marker.range = UidRange{first->get<std::uint32_t>()};
  return marker;
}

Result<VolumeMarker> read_marker(int volume_directory) {
  COVE_TRY(const std::string text, read_small_file(volume_directory, kMarkerName));
  if (text.empty()) return Error(ErrorCode::kNotFound, "the marker of a volume is empty");
  return parse_volume_marker(text);
}

IdMapping id_mapping_of(const VolumeMarker& marker) noexcept {
  if (!marker.range) return {.offset = 0, .count = 0, .single = true};
  return {.offset = marker.range->first, .count = UidRange::kCount, .single = false};
}

}  // namespace cove::local

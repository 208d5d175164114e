#include "prepare/skills/place/usage.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "prepare/skills/text/packaged_skills.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;
constexpr std::size_t kMostVersions = 10'000;

}  // namespace

SkillUsage SkillUsage::parse(std::string_view text) {
  SkillUsage usage;
  if (text.size() > kMostBytes) return usage;
  const auto json = base::parse_json(text);
  if (!json || !json->is_object() || !json->contains("used")) return usage;
  const auto& used = (*json)["used"];
  if (!used.is_object()) return usage;
  for (const auto& [version_id, time] : used.items()) {
    const bool good = is_skill_name(version_id) && time.is_number_unsigned();
    if (!good || usage.used_.size() == kMostVersions) continue;
    const auto seconds = time.get<std::uint64_t>();
    if (seconds < 1ULL << 40U) {
      usage.used_[version_id] = WallTime(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
    }
  }
  return usage;
}

std::string SkillUsage::text() const {
  nlohmann::json used = nlohmann::json::object();
  for (const auto& [version_id, time] : used_) used[version_id] = time.time_since_epoch().count();
  return base::dump_json_pretty(nlohmann::json{{"used", used}}) + "\n";
}

std::vector<std::string> SkillUsage::take_expired(const std::vector<std::string>& present,
                                                  WallTime now, std::chrono::seconds grace) {
  std::map<std::string, WallTime> known;
  std::vector<std::string> expired;
  for (const std::string& version_id : present) {
    const auto found = used_.find(version_id);
    if (found == used_.end()) continue;
    // A time ahead of now is another clock's, or made up.
    const WallTime last = std::min(found->second, now);
    if (now - last >= grace) {
      expired.push_back(version_id);
    } else {
      known[version_id] = last;
    }
  }
  used_ = std::move(known);
  return expired;
}

}  // namespace cove::prepare

#include <string>

#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "base/text/name_text.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {

nlohmann::json skill_package_json(const SkillPackageInfo& info) {
  nlohmann::json skills = nlohmann::json::array();
  for (const PublishedSkill& skill : info.skills) {
    skills.push_back({{"name", skill.name},
                      {"description", skill.description},
                      {"path", base::name_text(skill.path)}});
  }
  return {{"version_id", info.version_id},
          {"sha256", info.sha256},
          {"content_hash", info.content_hash},
          {"packed_bytes", info.packed_bytes},
          {"content_bytes", info.content_bytes},
          {"files", info.files},
          {"skills", skills}};
}

std::string skill_package_text(const SkillPackageInfo& info) {
  std::string text = info.version_id + "  " + size_text(info.content_bytes) + "\n";
  for (const PublishedSkill& skill : info.skills) {
    const std::string_view description(skill.description);
    const std::string_view line = description.substr(0, description.find('\n'));
    text += "  " + base::escaped(skill.name) + "  " + base::escaped(line) + "\n";
  }
  return text;
}

nlohmann::json skill_index_json(const SkillIndex& index, std::size_t characters) {
  nlohmann::json skills = nlohmann::json::array();
  for (const SkillInfo& skill : index.skills) {
    skills.push_back({{"name", skill.name},
                      {"description", skill.description},
                      {"location", base::name_text(skill.location)},
                      {"version_id", skill.version_id}});
  }
  return {{"skills", skills}, {"problems", index.problems}, {"prompt", index.prompt(characters)}};
}

}  // namespace cove::cli

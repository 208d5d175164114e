#include "prepare/skills/text/packaged_skills.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text/display_text.hpp"
#include "base/text/utf8.hpp"
#include "prepare/skills/text/front_matter.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestDescription = 8 * 1024;
constexpr std::size_t kMostSkills = 256;
constexpr std::string_view kFile = "SKILL.md";

// ASCII only and without the locale, which belongs to the host.
bool is_alphanumeric(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::size_t depth_of(std::string_view path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

/// Files called SKILL.md below `prefix` (empty, or with a `/` at its end), `depth` directories
/// down.
std::vector<const PackageEntry*> files_at(const Package& package, std::string_view prefix,
                                          std::size_t depth) {
  std::vector<const PackageEntry*> found;
  std::string_view last;
  for (const PackageEntry& entry : package.entries) {
    if (entry.type != PackageEntryType::kFile || !entry.path.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(entry.path).substr(prefix.size());
    const std::string_view name = rest.substr(rest.rfind('/') + 1);
    if (depth_of(rest) != depth || !equals_ignoring_case(name, kFile)) continue;
    const std::string_view directory = rest.substr(0, rest.size() - name.size());
    // In the order of paths SKILL.md comes before skill.md beside it.
    if (!found.empty() && directory == last) continue;
    last = directory;
    found.push_back(&entry);
  }
  return found;
}

std::vector<const PackageEntry*> skill_files(const Package& package) {
  auto found = files_at(package, "", 0);
  if (found.empty()) found = files_at(package, "", 1);
  if (found.empty()) found = files_at(package, "skills/", 1);
  return found;
}

/// The text of a key, or why it is none.
Result<std::string> text_at(const FrontMatter& values, const std::string& file, const char* key) {
  const auto refusal = [&](int line, const std::string& why) {
    return Error(ErrorCode::kInvalidArgument, file + ":" + std::to_string(line) + ": " + why);
  };
  const auto found = values.find(key);
  if (found == values.end()) {
    return refusal(1, "the front matter has no '" + std::string(key) + "'");
  }
  const FrontMatterValue& value = found->second;
  if (value.kind != FrontMatterValue::Kind::kText ||
      value.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return refusal(value.line, "'" + std::string(key) + "' must be a text that is not empty");
  }
  return value.text;
}

Result<PackagedSkill> read_skill(const std::string& shown, const PackageEntry& entry) {
  const std::string file = base::escaped(entry.path) + " of " + shown;
  COVE_TRY(const FrontMatter values, read_front_matter(file, text_of(entry)));
  PackagedSkill skill;
  skill.path = entry.path;
  COVE_TRY(skill.name, text_at(values, file, "name"));
  COVE_TRY(skill.description, text_at(values, file, "description"));
  const auto refusal = [&](const char* key, const std::string& why) {
    return Error(ErrorCode::kInvalidArgument,
                 file + ":" + std::to_string(values.at(key).line) + ": " + why);
  };
  if (!is_skill_name(skill.name)) {
    return refusal("name", "the name " + base::quoted(skill.name) +
                               " must be 1 to 64 of [A-Za-z0-9._-] and begin with one of "
                               "[A-Za-z0-9_]");
  }
  if (skill.description.size() > kLongestDescription) {
    return refusal("description", "the description has more than 8 KiB");
  }
  return skill;
}

}  // namespace

bool is_skill_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > kLongestName) return false;
  if (!is_alphanumeric(text.front()) && text.front() != '_') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Result<std::vector<PackagedSkill>> skills_of(const std::string& shown, const Package& package) {
  const auto files = skill_files(package);
  if (files.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 shown +
                     " has no SKILL.md: at its top, in a directory at its top, or in one of "
                     "skills/");
  }
  if (files.size() > kMostSkills) {
    return Error(ErrorCode::kTooLarge, shown + " has more than 256 skills");
  }
  std::vector<PackagedSkill> skills;
  std::set<std::string> names;
  for (const PackageEntry* const file : files) {
    COVE_TRY(PackagedSkill skill, read_skill(shown, *file));
    if (!names.insert(skill.name).second) {
      return Error(ErrorCode::kInvalidArgument, base::escaped(skill.path) + " of " + shown +
                                                    ": another skill of the package is "
                                                    "called " +
                                                    base::quoted(skill.name) + " too");
    }
    skills.push_back(std::move(skill));
  }
  return skills;
}

}  // namespace cove::prepare

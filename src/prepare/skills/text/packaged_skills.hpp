/// The skills that a package holds, by their SKILL.md files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

struct PackagedSkill {
  std::string name;         ///< `[A-Za-z0-9_][A-Za-z0-9._-]{0,63}`
  std::string description;  ///< UTF-8, as written
  std::string path;         ///< of its SKILL.md, below the package

  friend bool operator==(const PackagedSkill&, const PackagedSkill&) = default;
};

/// True for what version ids, and names of skills, are.
bool is_skill_name(std::string_view text) noexcept;

/// Looks for SKILL.md at the top; else in the directories at the top; else in those of `skills/`.
/// Upper and lower case of the file's name are the same where it is there once. `shown` names the
/// package in errors. kInvalidArgument: there is none, a name comes twice, or a file has no proper
/// name or description; the message names file and line.
Result<std::vector<PackagedSkill>> skills_of(const std::string& shown, const Package& package);

}  // namespace cove::prepare

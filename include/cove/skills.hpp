/// Skills of a workspace: what a model is told of them, and the host's shelf of published ones.
///
///     cove->add_skill("pdf-3", bytes);                 // checked, kept in the object store
///     auto workspace = cove->acquire(key, {.prepare = {.skills = {published_skill("pdf-3")}}});
///     prompt += workspace->skills()->prompt(8000);
///
/// A skill is a directory with a SKILL.md: YAML front matter with `name` and `description`, then
/// text for the model. Only the index goes into the prompt; the model reads the rest when it needs
/// it, by `sandbox_read_file` of the location.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/ids.hpp>
#include <cove/result.hpp>

namespace cove {

/// One skill, placed and verified.
struct SkillInfo {
  std::string name;         ///< `[A-Za-z0-9_][A-Za-z0-9._-]{0,63}`
  std::string description;  ///< as its author wrote it, UTF-8
  std::string location;     ///< of its SKILL.md: "/workspace/skills/pdf-3/SKILL.md"; bytes
  std::string version_id;   ///< of the package that it came in; empty of a builtin skill

  friend bool operator==(const SkillInfo&, const SkillInfo&) = default;
};

/// What a workspace has of skills: published ones in the order of the acquire, then builtin ones.
struct SkillIndex {
  std::vector<SkillInfo> skills;

  /// Packages that are left out since what lies in the workspace is not what was published, and
  /// why. The next preparation places them again.
  std::vector<std::string> problems;

  /// The block for a prompt, of at most `max_characters` (of Unicode): name, description on one
  /// line, location, XML-escaped. Whole skills only; where some do not fit, a last line says how
  /// many. Empty where there is no skill, or not even that line fits.
  std::string prompt(std::size_t max_characters = 16'000) const;
};

/// A skill that a package was found to hold.
struct PublishedSkill {
  std::string name;
  std::string description;
  std::string path;  ///< of its SKILL.md, below the package; bytes

  friend bool operator==(const PublishedSkill&, const PublishedSkill&) = default;
};

/// What is known of a package that was read and checked.
struct SkillPackageInfo {
  std::string version_id;
  std::string sha256;        ///< 64 hex of the package's bytes
  std::string content_hash;  ///< 64 hex of what it holds, the same whatever archive it came in
  std::uint64_t packed_bytes = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t files = 0;
  std::vector<PublishedSkill> skills;

  friend bool operator==(const SkillPackageInfo&, const SkillPackageInfo&) = default;
};

/// Reads a package as `skills add` does, and says what it holds; takes no longer than it takes to
/// unpack it. Errors: kInvalidArgument - no zip, tar, tar.gz or tar.zst, an entry or a SKILL.md
/// that is wrong (the message names it, and the line); kUnsupported - a device in it; kTooLarge.
Result<SkillPackageInfo> inspect_skill_package(const std::string& version_id, ByteView package);

}  // namespace cove

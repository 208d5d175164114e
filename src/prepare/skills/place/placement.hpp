/// Placement: versions of skills in `/workspace/skills/<version_id>`, each whole or not at all.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <cove/guest.hpp>
#include <cove/prepare_inputs.hpp>

#include "prepare/skills/place/usage.hpp"
#include "prepare/skills/shelf.hpp"

namespace cove::prepare {

/// What placing works with. Borrowed.
struct PlacementRequest {
  SkillShelf& shelf;
  Guest& guest;
  std::vector<SkillPackage>& skills;  ///< learn their sha256, as at the shelf

  /// Names what runs: sandbox, generation and epoch. What was verified in it is not verified again.
  std::string instance;

  WallTime now{};
  std::chrono::seconds grace{std::chrono::hours(24 * 7)};

  /// True for versions that a session of this process has; they are never collected. May be empty.
  std::function<bool(const std::string& version_id)> is_in_use;

  /// Whether another process uses the sandbox. Which versions its sessions have is not known here,
  /// so then nothing is collected. Asked only where something would be. May be empty: nobody does.
  std::function<Task<Result<bool>>(const CallContext& call)> is_shared;

  /// Hears how far it is. May be empty.
  std::function<void(std::string text)> tell;
};

struct PlacementReport {
  std::vector<std::string> placed;
  std::vector<std::string> replaced;  ///< were there with another content, which was moved aside
  std::vector<std::string> collected;

  /// "placed pdf-3, 2 were there, removed 1 that nobody uses".
  std::string summary(std::size_t asked) const;
};

/// Sees to it that every version is there as it was published. A version that is there is never
/// written to: one that is not what was published is renamed to `.changed-<version_id>-<random>`
/// and placed anew. Others that nobody used for `grace` are removed unless the sandbox is shared,
/// as is what a placement that was killed left an hour ago. Errors: those of the shelf and the
/// guest; what was placed stays.
Task<Result<PlacementReport>> place_skills(const PlacementRequest& request,
                                           const CallContext& call);

/// Where a version lies, seen from /workspace.
std::string skill_directory(const std::string& version_id);

}  // namespace cove::prepare

/// What the C ABI says in JSON; docs/c-api.md lists the fields.
#pragma once

#include <string>
#include <vector>

#include <cove/cove.hpp>

namespace cove::capi {

std::string status_json(const Record& record);
std::string list_json(const RecordPage& page);
std::string sweep_json(const SweepReport& report);

/// What progress callbacks hear: the step, and the counts so far.
std::string sweep_step_json(const SweepStep& step, const SweepReport& so_far);
std::string source_progress_json(const SourceProgress& so_far);

std::string idle_policy_json(const IdlePolicy& policy);
std::string event_json(const LifecycleEvent& event);
std::string orphans_json(const OrphanReport& report);

std::string skill_package_json(const SkillPackageInfo& info);
std::string skill_packages_json(const std::vector<SkillPackageInfo>& packages);
std::string skill_index_json(const SkillIndex& index, std::size_t max_characters);

/// {"destroyed"}.
std::string destroyed_json(std::uint32_t destroyed);

/// {"deployment", "archived", "stopped", "kept", "destroyed", "problems"}.
std::string recover_json(const RecoverReport& report);
std::string doctor_json(const std::vector<Finding>& findings);

}  // namespace cove::capi

#include "views.hpp"

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "base/text/name_text.hpp"

namespace cove::capi {
namespace {

using Json = nlohmann::json;

std::int64_t milliseconds_of(StoreTime time) { return time.time_since_epoch().count(); }

Json view_of(const Operation& operation) {
  return {{"kind", name_of(operation.kind)},
          {"phase", name_of(operation.phase)},
          {"attempt", operation.attempt},
          {"started_at_ms", milliseconds_of(operation.started_at)},
          {"heartbeat_at_ms", milliseconds_of(operation.heartbeat_at)},
          {"error", operation.error}};
}

Json view_of(const SnapshotRef& snapshot) {
  std::uint64_t stored = 0;
  for (const SnapshotObject& object : snapshot.objects) stored += object.size;
  return {{"entries", snapshot.entries},
          {"content_bytes", snapshot.content_bytes},
          {"stored_bytes", stored}};
}

Json view_of(const Record& record) {
  return {{"sandbox_id", record.sandbox_id.str()},
          {"source_type", record.key.source_type},
          {"source_id", record.key.source_id},
          {"user_id", record.key.user_id},
          {"state", name_of(record.state)},
          {"provider", record.provider},
          {"node", record.node.str()},
          {"created_at_ms", milliseconds_of(record.created_at)},
          {"last_active_at_ms", milliseconds_of(record.last_active_at)},
          {"users", record.activity.size()},
          {"failures", record.failures},
          {"needs_attention", record.needs_attention},
          {"operation", record.operation ? view_of(*record.operation) : Json()},
          {"snapshot", record.snapshot ? view_of(*record.snapshot) : Json()}};
}

Json view_of(const OrphanReport& report, const VolumeRef& volume) {
  return {{"deployment", volume.deployment.str()},
          {"sandbox_id", volume.sandbox.str()},
          {"generation", volume.generation.str()},
          {"provider", report.provider_of(volume)}};
}

Json view_of(const OrphanReport& report, const InstanceRef& instance) {
  Json view = view_of(report, instance.volume);
  view["epoch"] = number_of(instance.epoch);
  return view;
}

template <class T>
Json views_of(const OrphanReport& report, const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& one : all) list.push_back(view_of(report, one));
  return list;
}

Json view_of(const SkillPackageInfo& info) {
  Json skills = Json::array();
  for (const PublishedSkill& skill : info.skills) {
    skills.push_back({{"name", skill.name},
                      {"description", skill.description},
                      {"path", base::name_text(skill.path)}});
  }
  return {{"version_id", info.version_id},       {"sha256", info.sha256},
          {"content_hash", info.content_hash},   {"packed_bytes", info.packed_bytes},
          {"content_bytes", info.content_bytes}, {"files", info.files},
          {"skills", std::move(skills)}};
}

template <class T>
Json views_of(const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& one : all) list.push_back(view_of(one));
  return list;
}

Json counts_of(const SweepReport& report) {
  return {{"examined", report.examined}, {"stopped", report.stopped},
          {"archived", report.archived}, {"recovered", report.recovered},
          {"lost", report.lost},         {"deleted", report.deleted},
          {"skipped", report.skipped},   {"failed", report.failed}};
}

Json view_of(const std::optional<std::chrono::milliseconds>& time) {
  return time ? Json(time->count()) : Json();
}

const char* name_of(ArchiveRule rule) {
  switch (rule) {
    case ArchiveRule::kWhenIdle: return "when_idle";
    case ArchiveRule::kAtOnce: return "at_once";
    case ArchiveRule::kNever: return "never";
  }
  return "unknown";
}

const char* name_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::kGood: return "good";
    case Finding::Level::kLimited: return "limited";
    case Finding::Level::kBroken: return "broken";
  }
  return "unknown";
}

}  // namespace

std::string status_json(const Record& record) { return base::dump_json(view_of(record)); }

std::string list_json(const RecordPage& page) {
  Json sandboxes = Json::array();
  for (const Record& record : page.records) sandboxes.push_back(view_of(record));
  return base::dump_json({{"sandboxes", std::move(sandboxes)}, {"next", page.next}});
}

std::string sweep_json(const SweepReport& report) {
  Json planned = Json::array();
  for (const SweepStep& step : report.planned) {
    planned.push_back({{"sandbox_id", step.sandbox.str()}, {"action", step.action}});
  }
  Json object = counts_of(report);
  object["errors"] = report.errors;
  object["planned"] = std::move(planned);
  return base::dump_json(object);
}

std::string sweep_step_json(const SweepStep& step, const SweepReport& so_far) {
  Json object = counts_of(so_far);
  object["sandbox_id"] = step.sandbox.str();
  object["action"] = step.action;
  object["error"] = step.error;
  return base::dump_json(object);
}

std::string source_progress_json(const SourceProgress& so_far) {
  return base::dump_json({{"sandbox_id", so_far.sandbox.str()},
                          {"destroyed", so_far.destroyed},
                          {"failed", so_far.failed}});
}

std::string idle_policy_json(const IdlePolicy& policy) {
  return base::dump_json({{"stop_after_ms", view_of(policy.stop_after)},
                          {"archive_after_ms", view_of(policy.archive_after)},
                          {"archive", name_of(policy.archive)}});
}

std::string event_json(const LifecycleEvent& event) {
  return base::dump_json({{"sandbox_id", event.sandbox.str()},
                          {"state", name_of(event.state)},
                          {"operation", name_of(event.kind)},
                          {"phase", name_of(event.phase)},
                          {"completed", event.completed},
                          {"error", event.error},
                          {"reason", name_of(event.reason)},
                          {"duration_ms", event.duration.count()}});
}

std::string orphans_json(const OrphanReport& report) {
  return base::dump_json({{"volumes", views_of(report, report.volumes)},
                          {"instances", views_of(report, report.instances)},
                          {"foreign_volumes", views_of(report, report.foreign_volumes)},
                          {"foreign_instances", views_of(report, report.foreign_instances)}});
}

std::string skill_package_json(const SkillPackageInfo& info) {
  return base::dump_json(view_of(info));
}

std::string skill_packages_json(const std::vector<SkillPackageInfo>& packages) {
  return base::dump_json({{"packages", views_of(packages)}});
}

std::string skill_index_json(const SkillIndex& index, std::size_t max_characters) {
  Json skills = Json::array();
  for (const SkillInfo& skill : index.skills) {
    skills.push_back({{"name", skill.name},
                      {"description", skill.description},
                      {"location", base::name_text(skill.location)},
                      {"version_id", skill.version_id}});
  }
  return base::dump_json({{"skills", std::move(skills)},
                          {"problems", index.problems},
                          {"prompt", index.prompt(max_characters)}});
}

std::string destroyed_json(std::uint32_t destroyed) {
  return base::dump_json({{"destroyed", destroyed}});
}

std::string recover_json(const RecoverReport& report) {
  return base::dump_json({{"deployment", report.deployment.str()},
                          {"archived", report.archived},
                          {"stopped", report.stopped},
                          {"kept", report.kept},
                          {"destroyed", report.destroyed},
                          {"problems", report.problems}});
}

std::string doctor_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"level", name_of(finding.level)},
                    {"subject", finding.subject},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy}});
  }
  return base::dump_json({{"findings", std::move(list)}});
}

}  // namespace cove::capi

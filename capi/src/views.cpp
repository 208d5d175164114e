#include "views.hpp"

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"

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
  return base::dump_json({{"examined", report.examined},
                          {"stopped", report.stopped},
                          {"archived", report.archived},
                          {"recovered", report.recovered},
                          {"lost", report.lost},
                          {"deleted", report.deleted},
                          {"skipped", report.skipped},
                          {"errors", report.errors}});
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

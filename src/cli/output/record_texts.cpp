#include <array>
#include <cstdio>
#include <numeric>

#include <nlohmann/json.hpp>

#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

using nlohmann::json;

std::uint64_t stored_bytes(const SnapshotRef& snapshot) {
  std::uint64_t sum = 0;
  for (const SnapshotObject& object : snapshot.objects) sum += object.size;
  return sum;
}

json snapshot_json(const SnapshotRef& snapshot) {
  return {{"size", stored_bytes(snapshot)},
          {"objects", snapshot.objects.size()},
          {"entries", snapshot.entries},
          {"content_bytes", snapshot.content_bytes}};
}

json operation_json(const Operation& operation) {
  return {{"id", operation.id.str()},
          {"kind", name_of(operation.kind)},
          {"phase", name_of(operation.phase)},
          {"owner", operation.owner.str()},
          {"attempt", operation.attempt},
          {"started_at", time_text(operation.started_at)},
          {"heartbeat_at", time_text(operation.heartbeat_at)},
          {"error", operation.error}};
}

/// "stopped, archive: archive_uploaded".
std::string state_text(const Record& record) {
  std::string text(name_of(record.state));
  if (record.operation) {
    text += ", " + std::string(name_of(record.operation->kind)) + ": " +
            std::string(name_of(record.operation->phase));
  }
  return text;
}

std::string owner_text(const WorkspaceKey& key) {
  return base::escaped(key.source_type + "/" + key.source_id + " " + key.user_id);
}

/// What was done to a sandbox that is in that state now.
std::string word_of(SandboxState state) {
  return std::string(state == SandboxState::kAbsent ? "destroyed" : name_of(state));
}

}  // namespace

std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  static_cast<void>(std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<long>(clock.hours().count()),
      static_cast<long>(clock.minutes().count()), static_cast<long>(clock.seconds().count()),
      static_cast<long>(clock.subseconds().count())));
  return text.data();
}

json record_json(const Record& record) {
  json object{{"sandbox_id", record.sandbox_id.str()},
              {"source_type", record.key.source_type},
              {"source_id", record.key.source_id},
              {"user_id", record.key.user_id},
              {"state", name_of(record.state)},
              {"provider", record.provider},
              {"node", record.node.str()},
              {"generation", record.generation.str()},
              {"epoch", number_of(record.epoch)},
              {"created_at", time_text(record.created_at)},
              {"last_active_at", time_text(record.last_active_at)},
              {"in_use_by", record.activity.size()},
              {"failures", record.failures},
              {"operation", nullptr},
              {"snapshot", nullptr},
              {"needs_attention", nullptr}};
  if (record.operation) object["operation"] = operation_json(*record.operation);
  if (record.snapshot) object["snapshot"] = snapshot_json(*record.snapshot);
  if (!record.needs_attention.empty()) object["needs_attention"] = record.needs_attention;
  return object;
}

std::string record_text(const Record& record) {
  std::string text = base::escaped(record.sandbox_id.str()) + "\n";
  const auto line = [&text](std::string_view name, const std::string& value) {
    if (!value.empty()) text += "  " + padded(name, 14) + value + "\n";
  };
  line("state", state_text(record));
  line("owner", owner_text(record.key));
  line("last active", time_text(record.last_active_at));
  line("created", time_text(record.created_at));
  line("runs on", base::escaped(record.provider + " " + record.node.str()));
  line("volume", base::escaped(record.generation.str()));
  line("epoch", std::to_string(number_of(record.epoch)));
  if (record.snapshot) {
    line("archive", size_text(stored_bytes(*record.snapshot)) + " for " +
                        size_text(record.snapshot->content_bytes) + " in " +
                        std::to_string(record.snapshot->entries) + " entries");
  }
  if (record.operation) line("last error", base::harmless(record.operation->error));
  line("ATTENTION", base::harmless(record.needs_attention));
  return text;
}

json settled_json(const Settled& settled) {
  const bool now = settled.by == Settled::By::kThisCall;
  return {{"sandbox_id", settled.sandbox.str()},
          {"done", now ? json(word_of(settled.state)) : json(nullptr)},
          {"state", name_of(settled.state)}};
}

std::string settled_text(const Settled& settled) {
  const std::string word = word_of(settled.state);
  const std::string sandbox = base::escaped(settled.sandbox.str());
  if (settled.by == Settled::By::kThisCall) return word + " " + sandbox + "\n";
  return sandbox + " is " + word + " already; nothing was done\n";
}

std::string record_heading() {
  return padded("SANDBOX", 60) + padded("STATE", 12) + padded("LAST ACTIVE", 26) + "OWNER\n";
}

std::string record_row(const Record& record) {
  std::string row = padded(base::escaped(record.sandbox_id.str()), 60) +
                    padded(state_text(record), 12) + padded(time_text(record.last_active_at), 26) +
                    owner_text(record.key);
  if (!record.needs_attention.empty()) row += "  needs attention";
  return row + "\n";
}

}  // namespace cove::cli

#include "cli/output/texts.hpp"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "base/values/outcome_name.hpp"
#include "cli/output/text_fields.hpp"

namespace cove::cli {
namespace {

using nlohmann::json;

json error_object(const Error& error) {
  json object{{"code", name_of(error.code())}, {"message", error.message()}};
  json context = json::object();
  for (const auto& [key, value] : error.context()) context[key] = value;
  object["context"] = std::move(context);
  object["retry_after_ms"] = nullptr;
  if (error.retry_after()) object["retry_after_ms"] = error.retry_after()->count();
  return object;
}

const char* word_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::kGood: return "good";
    case Finding::Level::kLimited: return "limited";
    case Finding::Level::kBroken: return "broken";
  }
  return "broken";
}

}  // namespace

std::string error_json(const Error& error) {
  json object = error_object(error);
  json causes = json::array();
  for (const Error* cause = error.cause(); cause != nullptr; cause = cause->cause()) {
    causes.push_back(error_object(*cause));
  }
  if (!causes.empty()) object["causes"] = std::move(causes);
  return base::dump_json(object);
}

std::string error_line(const Error& error) {
  std::string line = base::harmless(error.describe());
  if (error.retry_after()) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*error.retry_after());
    line += "; try again in " + std::to_string(seconds.count()) + " s";
  }
  return line;
}

namespace {

/// What a stream wrote, byte for byte, with a line in place of what was dropped.
std::string bytes_of(const StreamOutput& output) {
  if (output.dropped_bytes == 0) return output.head + output.tail;
  const bool ended = output.head.empty() || output.head.back() == '\n';
  return output.head + (ended ? "[" : "\n[") + std::to_string(output.dropped_bytes) +
         " bytes left out]\n" + output.tail;
}

}  // namespace

json exec_json(const ExecResult& result) {
  json object{{"outcome", base::outcome_name(result.outcome)},
              {"exit_code", result.shell_code()},
              {"signal", nullptr},
              {"stdout_bytes", result.out.total_bytes},
              {"stdout_dropped_bytes", result.out.dropped_bytes},
              {"stderr_bytes", result.err.total_bytes},
              {"stderr_dropped_bytes", result.err.dropped_bytes},
              {"duration_ms", static_cast<double>(result.duration.count()) / 1000}};
  set_bytes(object, "stdout", bytes_of(result.out));
  set_bytes(object, "stderr", bytes_of(result.err));
  if (const auto* signaled = std::get_if<Signaled>(&result.outcome)) {
    object["signal"] = signaled->signal;
  }
  return object;
}

json sweep_json(const SweepReport& report) {
  json planned = json::array();
  for (const SweepStep& step : report.planned) {
    planned.push_back({{"sandbox_id", step.sandbox.str()}, {"action", step.action}});
  }
  return {{"examined", report.examined},  {"stopped", report.stopped},
          {"archived", report.archived},  {"recovered", report.recovered},
          {"lost", report.lost},          {"deleted", report.deleted},
          {"skipped", report.skipped},    {"errors", report.errors},
          {"planned", std::move(planned)}};
}

std::string sweep_text(const SweepReport& report) {
  std::string planned;
  for (const SweepStep& step : report.planned) {
    planned += "would " + step.action + " " + base::escaped(step.sandbox.str()) + "\n";
  }
  return planned + "examined " + std::to_string(report.examined) + ": stopped " +
         std::to_string(report.stopped) + ", archived " + std::to_string(report.archived) +
         ", recovered " + std::to_string(report.recovered) + ", lost " +
         std::to_string(report.lost) + ", removed " + std::to_string(report.deleted) +
         ", skipped " + std::to_string(report.skipped) + "\n";
}

json findings_json(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"level", word_of(finding.level)},
                    {"subject", finding.subject},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy}});
  }
  return {{"findings", std::move(list)}};
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += padded(word_of(finding.level), 9) + base::harmless(finding.subject);
    if (!finding.detail.empty()) text += ": " + base::harmless(finding.detail);
    text += '\n';
    if (!finding.remedy.empty()) text += "         -> " + base::harmless(finding.remedy) + "\n";
  }
  return text;
}

namespace {

json orphan_json(const OrphanReport& report, const VolumeRef& volume) {
  return {{"deployment", volume.deployment.str()},
          {"sandbox_id", volume.sandbox.str()},
          {"generation", volume.generation.str()},
          {"provider", report.provider_of(volume)}};
}

json orphan_json(const OrphanReport& report, const InstanceRef& instance) {
  json object = orphan_json(report, instance.volume);
  object["epoch"] = number_of(instance.epoch);
  return object;
}

template <class T>
json orphan_list(const OrphanReport& report, const std::vector<T>& all) {
  json list = json::array();
  for (const T& one : all) list.push_back(orphan_json(report, one));
  return list;
}

std::string name_text(const VolumeRef& volume) {
  return base::escaped(volume.sandbox.str()) + "  generation " +
         base::escaped(volume.generation.str());
}

std::string name_text(const InstanceRef& instance) {
  return name_text(instance.volume) + "  epoch " + std::to_string(number_of(instance.epoch));
}

/// Where it is: "  at local"; nothing where the report does not say.
std::string place_text(const OrphanReport& report, const VolumeRef& volume) {
  const std::string provider = report.provider_of(volume);
  return provider.empty() ? std::string() : "  at " + base::escaped(provider);
}

std::string deployment_text(const VolumeRef& volume) {
  return "  of deployment " + base::escaped(volume.deployment.str()) + "\n";
}

}  // namespace

json relocated_json(const Relocated& relocated) {
  return {{"sandbox_id", relocated.sandbox.str()},
          {"done", relocated.moved ? json("relocated") : json(nullptr)},
          {"provider", relocated.provider},
          {"from", relocated.from}};
}

std::string relocated_text(const Relocated& relocated) {
  const std::string name = base::escaped(relocated.sandbox.str());
  const std::string provider = base::escaped(relocated.provider);
  if (!relocated.moved) return name + " is at " + provider + " already; nothing was done\n";
  return "relocated " + name + " from " + base::escaped(relocated.from) + " to " + provider + "\n";
}

json orphans_json(const OrphanReport& report) {
  return {{"volumes", orphan_list(report, report.volumes)},
          {"instances", orphan_list(report, report.instances)},
          {"foreign_volumes", orphan_list(report, report.foreign_volumes)},
          {"foreign_instances", orphan_list(report, report.foreign_instances)}};
}

std::string orphans_text(const OrphanReport& report) {
  std::string text;
  for (const VolumeRef& volume : report.volumes) {
    text += "volume    " + name_text(volume) + place_text(report, volume) + "\n";
  }
  for (const InstanceRef& instance : report.instances) {
    text += "instance  " + name_text(instance) + place_text(report, instance.volume) + "\n";
  }
  for (const VolumeRef& volume : report.foreign_volumes) {
    text += "foreign volume    " + name_text(volume) + place_text(report, volume) +
            deployment_text(volume);
  }
  for (const InstanceRef& instance : report.foreign_instances) {
    text += "foreign instance  " + name_text(instance) + place_text(report, instance.volume) +
            deployment_text(instance.volume);
  }
  return text.empty() ? "no orphans\n" : text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.1f %s", value, kUnits[unit]));
  return text.data();
}

}  // namespace cove::cli

#include "lifecycle/metrics.hpp"

#include <cmath>
#include <utility>

namespace cove {

std::string_view name_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::kAcquire: return "acquire";
    case Reason::kAsked: return "asked";
    case Reason::kIdle: return "idle";
    case Reason::kRecovery: return "recovery";
    case Reason::kSource: return "source";
  }
  return "unknown";
}

}  // namespace cove

namespace cove::lifecycle {
namespace {

std::string label(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + std::string(value) + "\"";
}

/// Milliseconds are enough, and whole numbers stay whole.
std::string number_text(double number) {
  const auto thousandths = std::llround(number * 1000);
  std::string text = std::to_string(thousandths / 1000);
  if (thousandths % 1000 == 0) return text;
  const std::string rest = std::to_string(1000 + thousandths % 1000);
  return text + "." + rest.substr(1);
}

}  // namespace

void MetricsText::begin(std::string_view name, std::string_view type, std::string_view help) {
  text_ += "# HELP " + std::string(name) + " " + std::string(help) + "\n";
  text_ += "# TYPE " + std::string(name) + " " + std::string(type) + "\n";
}

void MetricsText::value(std::string_view name, std::string_view labels, double number) {
  text_ += name;
  if (!labels.empty()) text_ += "{" + std::string(labels) + "}";
  text_ += " " + number_text(number) + "\n";
}

std::string_view Metrics::name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted: return "completed";
    case Outcome::kAbandoned: return "abandoned";
    case Outcome::kFailed: return "failed";
  }
  return "unknown";
}

void Metrics::note(const LifecycleEvent& event) {
  if (event.error.empty()) ++steps_[{event.kind, event.phase}];
  if (!event.completed && event.error.empty()) return;
  Outcome outcome = Outcome::kCompleted;
  if (!event.error.empty()) outcome = event.completed ? Outcome::kAbandoned : Outcome::kFailed;
  ++ended_[{event.kind, event.reason, outcome}];
  if (outcome != Outcome::kCompleted) return;
  Spent& spent = spent_[event.kind];
  ++spent.count;
  spent.seconds += std::chrono::duration<double>(event.duration).count();
}

void Metrics::write(MetricsText& out) const {
  out.begin("cove_operations_total", "counter", "Operations that ended in this process.");
  for (const auto& [key, count] : ended_) {
    const auto& [kind, reason, outcome] = key;
    out.value("cove_operations_total",
              label("operation", cove::name_of(kind)) + "," +
                  label("reason", cove::name_of(reason)) + "," + label("outcome", name_of(outcome)),
              static_cast<double>(count));
  }
  out.begin("cove_operation_steps_total", "counter", "Phases that operations reached here.");
  for (const auto& [key, count] : steps_) {
    out.value("cove_operation_steps_total",
              label("operation", cove::name_of(key.first)) + "," +
                  label("phase", cove::name_of(key.second)),
              static_cast<double>(count));
  }
  out.begin("cove_operation_seconds", "summary", "How long completed operations took here.");
  for (const auto& [kind, spent] : spent_) {
    const std::string operation = label("operation", cove::name_of(kind));
    out.value("cove_operation_seconds_sum", operation, spent.seconds);
    out.value("cove_operation_seconds_count", operation, static_cast<double>(spent.count));
  }
}

}  // namespace cove::lifecycle

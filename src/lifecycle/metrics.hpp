/// Counters of what the lifecycle did in this process, and the Prometheus text form.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include <cove/lifecycle_report.hpp>

namespace cove::lifecycle {

/// Writes metrics in Prometheus's text form, version 0.0.4.
class MetricsText {
 public:
  /// Begins a metric; its values follow.
  void begin(std::string_view name, std::string_view type, std::string_view help);

  /// One value; `labels` as `state="running"`, empty = none.
  void value(std::string_view name, std::string_view labels, double number);

  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// On the scheduler only.
class Metrics {
 public:
  void note(const LifecycleEvent& event);
  void write(MetricsText& out) const;

 private:
  enum class Outcome : std::uint8_t { kCompleted, kAbandoned, kFailed };
  struct Spent {
    std::uint64_t count = 0;
    double seconds = 0;
  };

  static std::string_view name_of(Outcome outcome);

  std::map<std::tuple<OperationKind, Reason, Outcome>, std::uint64_t> ended_;
  std::map<OperationKind, Spent> spent_;
  std::map<std::pair<OperationKind, Phase>, std::uint64_t> steps_;
};

}  // namespace cove::lifecycle

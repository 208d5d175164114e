/// What a host decides about the lives of its sandboxes: thresholds, quotas, and what a source
/// wants otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace cove {

/// How many sandboxes may run at once; 0 = as many as there is room for, at most 5,000 else.
/// Each is a list of places in the metadata store: exact over all hosts that have the same limits.
struct RunningQuotas {
  std::uint32_t all = 0;
  std::uint32_t per_source = 0;  ///< of one `source_type/source_id`
  std::uint32_t per_user = 0;    ///< of one `user_id`, over all sources

  friend bool operator==(const RunningQuotas&, const RunningQuotas&) = default;
};

/// After what times things happen to sandboxes, and how many may run.
struct LifecycleSettings {
  std::chrono::milliseconds stop_after{std::chrono::minutes(60)};  ///< idle while running
  std::chrono::milliseconds archive_after{std::chrono::days(7)};   ///< idle while stopped
  std::chrono::milliseconds activity_lease{std::chrono::seconds(60)};
  std::chrono::milliseconds activity_idle{
      std::chrono::minutes(5)};  ///< no call for so long: not renewed
  std::chrono::milliseconds heartbeat{std::chrono::seconds(5)};
  std::chrono::milliseconds owner_dead_after{std::chrono::seconds(30)};
  std::chrono::milliseconds tombstone_keep{std::chrono::days(30)};
  std::uint32_t attention_after = 5;  ///< failures one after another until `needs_attention`
  RunningQuotas running{};
};

/// When the sweep archives a stopped sandbox.
enum class ArchiveRule : std::uint8_t {
  kWhenIdle,  ///< after `archive_after`
  kAtOnce,    ///< in the pass that stopped it, or that finds it stopped
  kNever,     ///< only where it is asked for
};

/// What one source wants instead of the settings' thresholds. All default = nothing.
struct IdlePolicy {
  std::optional<std::chrono::milliseconds> stop_after;
  std::optional<std::chrono::milliseconds> archive_after;
  ArchiveRule archive = ArchiveRule::kWhenIdle;

  friend bool operator==(const IdlePolicy&, const IdlePolicy&) = default;
};

}  // namespace cove

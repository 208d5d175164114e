/// When a sandbox has been idle for long enough: the settings, and what sources want otherwise.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <cove/lifecycle_settings.hpp>
#include <cove/record.hpp>

namespace cove::lifecycle {

class IdleRules {
 public:
  IdleRules(const LifecycleSettings& settings, std::map<std::string, IdlePolicy> policies);

  /// How long a sandbox of the source runs idly, and how long it then stays stopped; none = for
  /// ever. An empty source is one without a policy.
  std::chrono::milliseconds stop_after(const std::string& source) const;
  std::optional<std::chrono::milliseconds> archive_after(const std::string& source) const;

  /// True where the source's own time counts, not the settings'.
  bool has_own_stop(const std::string& source) const;
  bool has_own_archive(const std::string& source) const;

  const std::map<std::string, IdlePolicy>& policies() const { return policies_; }

 private:
  const IdlePolicy* find(const std::string& source) const;

  LifecycleSettings settings_;
  std::map<std::string, IdlePolicy> policies_;
};

/// `source_type/source_id` of the record.
std::string source_of(const Record& record);

}  // namespace cove::lifecycle

#include "lifecycle/requests/idle_rules.hpp"

#include <utility>

namespace cove::lifecycle {

IdleRules::IdleRules(const LifecycleSettings& settings, std::map<std::string, IdlePolicy> policies)
    : settings_(settings), policies_(std::move(policies)) {}

const IdlePolicy* IdleRules::find(const std::string& source) const {
  const auto found = policies_.find(source);
  return found == policies_.end() ? nullptr : &found->second;
}

std::chrono::milliseconds IdleRules::stop_after(const std::string& source) const {
  const IdlePolicy* policy = find(source);
  if (policy == nullptr) return settings_.stop_after;
  return policy->stop_after.value_or(settings_.stop_after);
}

std::optional<std::chrono::milliseconds> IdleRules::archive_after(const std::string& source) const {
  const IdlePolicy* policy = find(source);
  if (policy == nullptr) return settings_.archive_after;
  switch (policy->archive) {
    case ArchiveRule::kNever: return std::nullopt;
    case ArchiveRule::kAtOnce: return std::chrono::milliseconds(0);
    case ArchiveRule::kWhenIdle: break;
  }
  return policy->archive_after.value_or(settings_.archive_after);
}

bool IdleRules::has_own_stop(const std::string& source) const {
  const IdlePolicy* policy = find(source);
  return policy != nullptr && policy->stop_after.has_value();
}

bool IdleRules::has_own_archive(const std::string& source) const {
  const IdlePolicy* policy = find(source);
  return policy != nullptr &&
         (policy->archive_after.has_value() || policy->archive != ArchiveRule::kWhenIdle);
}

std::string source_of(const Record& record) {
  return record.key.source_type + "/" + record.key.source_id;
}

}  // namespace cove::lifecycle

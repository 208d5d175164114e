/// A quota's document: which sandboxes hold a place of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cove/lifecycle_settings.hpp>
#include <cove/record.hpp>
#include <cove/result.hpp>

namespace cove::lifecycle {

/// What a quota is counted over.
struct QuotaScope {
  std::string of;        ///< for people: "source 'app/demo'"
  std::string document;  ///< its document's name
  std::string source;    ///< for the document's index; empty where it is of no one source
  std::uint32_t limit = 0;
};

/// The scopes that a sandbox with this key needs a place of, as far as they are limited; that of
/// the fewest sandboxes first.
std::vector<QuotaScope> scopes_of(const WorkspaceKey& key, const RunningQuotas& limits);

/// The document of kind kQuota; docs/formats.md has its JSON form.
struct Places {
  std::string of;
  std::vector<SandboxId> held;  ///< in the order in which they were taken
};

bool holds(const Places& places, const SandboxId& sandbox);

/// True where the record needs its places: it runs, or is being started, or is being destroyed and
/// may still run.
bool occupies(const Record& record);

/// Which quota a document is of, as the configuration calls it: "running_per_user"; empty = none.
std::string_view quota_of_document(std::string_view document);

/// What a caller is told who gets no place: how many there are, and who has them.
Error quota_exceeded(const QuotaScope& scope, const Places& places);

std::string to_json(const Places& places);

/// kIntegrity - not a quota of a version known here.
Result<Places> parse_places(std::string_view json);

}  // namespace cove::lifecycle

/// What is known of a source of workspaces (an app, a skill): that it was deleted, and what it
/// wants otherwise.
#pragma once

#include <string>
#include <string_view>

#include <cove/clock.hpp>
#include <cove/lifecycle_settings.hpp>
#include <cove/metadata_store.hpp>
#include <cove/result.hpp>

namespace cove::lifecycle {

/// The document of kind kSource; docs/formats.md has its JSON form.
struct SourceDocument {
  std::string source;      ///< `source_type/source_id`
  StoreTime deleted_at{};  ///< 1970 = it was not
  IdlePolicy idle;

  bool is_deleted() const { return deleted_at != StoreTime{}; }
};

/// What its index says as `state` where it wants other thresholds than the settings'.
inline constexpr std::string_view kHasIdlePolicy = "idle_policy";

DocumentId document_of_source(const std::string& source);
DocumentIndex index_of(const SourceDocument& document);

std::string to_json(const SourceDocument& document);

/// kIntegrity - not a source of a version known here.
Result<SourceDocument> parse_source(std::string_view json);

}  // namespace cove::lifecycle

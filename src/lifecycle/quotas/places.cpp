#include "lifecycle/quotas/places.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"

namespace cove::lifecycle {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMaxNamed = 5;  // in an error

}  // namespace

std::vector<QuotaScope> scopes_of(const WorkspaceKey& key, const RunningQuotas& limits) {
  const std::string source = key.source_type + "/" + key.source_id;
  std::vector<QuotaScope> scopes;
  // A source or user may be longer than a document's name.
  if (limits.per_user > 0) {
    scopes.push_back({"user '" + key.user_id + "'", "running/user/" + base::sha256_hex(key.user_id),
                      "", limits.per_user});
  }
  if (limits.per_source > 0) {
    scopes.push_back({"source '" + source + "'", "running/source/" + base::sha256_hex(source),
                      source, limits.per_source});
  }
  if (limits.all > 0) scopes.push_back({"this deployment", "running/all", "", limits.all});
  return scopes;
}

bool holds(const Places& places, const SandboxId& sandbox) {
  return std::find(places.held.begin(), places.held.end(), sandbox) != places.held.end();
}

bool occupies(const Record& record) {
  if (record.state == SandboxState::kRunning) return true;
  if (!record.operation || !record.operation->error.empty()) return false;
  switch (record.operation->kind) {
    case OperationKind::kProvision:
    case OperationKind::kResume:
    case OperationKind::kRestore:
    case OperationKind::kRelocate: return true;
    case OperationKind::kDestroy: return record.operation->phase == Phase::kClaimed;
    case OperationKind::kStop:
    case OperationKind::kArchive:
    case OperationKind::kLost: break;
  }
  return false;
}

std::string_view quota_of_document(std::string_view document) {
  if (document == "running/all") return "running";
  if (document.starts_with("running/source/")) return "running_per_source";
  if (document.starts_with("running/user/")) return "running_per_user";
  return {};
}

Error quota_exceeded(const QuotaScope& scope, const Places& places) {
  std::string text = std::to_string(places.held.size()) + " of " + std::to_string(scope.limit) +
                     " sandboxes of " + scope.of + " run:";
  const std::size_t named = std::min(places.held.size(), kMaxNamed);
  for (std::size_t i = 0; i < named; ++i) text += (i > 0 ? ", " : " ") + places.held[i].str();
  if (places.held.size() > named) {
    text += " and " + std::to_string(places.held.size() - named) + " more";
  }
  return Error(ErrorCode::kQuotaExceeded, text + "; stop one, or raise the limit");
}

std::string to_json(const Places& places) {
  json held = json::array();
  for (const SandboxId& sandbox : places.held) held.push_back(sandbox.str());
  return base::dump_json({{"version", kVersion}, {"of", places.of}, {"held", std::move(held)}});
}

Result<Places> parse_places(std::string_view text) {
  auto parsed = base::parse_json(text);
  if (!parsed) return Error(ErrorCode::kIntegrity, "not a quota").with_cause(parsed.error());
  JsonReader reader(*parsed, "quota");
  if (reader.number("version") != kVersion) {
    return Error(ErrorCode::kIntegrity, "not a quota of version 1");
  }
  Places places;
  places.of = reader.text("of");
  for (const json& element : reader.array("held")) {
    const auto* name = element.get_ptr<const std::string*>();
    if (name == nullptr) {
      reader.fail("held has what is no text");
    } else {
      places.held.emplace_back(*name);
    }
  }
  COVE_TRY_VOID(reader.finish());
  return places;
}

}  // namespace cove::lifecycle

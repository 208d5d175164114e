#include "lifecycle/records/source_document.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"

namespace cove::lifecycle {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::uint64_t kVersion = 2;
constexpr std::uint64_t kWithoutIdle = 1;

constexpr std::array kRules{ArchiveRule::kWhenIdle, ArchiveRule::kAtOnce, ArchiveRule::kNever};

std::string_view name_of(ArchiveRule rule) noexcept {
  switch (rule) {
    case ArchiveRule::kWhenIdle: return "when_idle";
    case ArchiveRule::kAtOnce: return "at_once";
    case ArchiveRule::kNever: return "never";
  }
  return "unknown";
}

json write_time(const std::optional<milliseconds>& time) {
  if (!time) return nullptr;
  return static_cast<std::uint64_t>(time->count());
}

std::optional<milliseconds> read_time(JsonReader& reader, const char* name) {
  const json* value = reader.optional(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_unsigned()) {
    reader.fail(std::string(name) + " is no number of its range");
    return std::nullopt;
  }
  return milliseconds(value->get<std::int64_t>());
}

IdlePolicy read_idle(JsonReader& outer, const json& value) {
  JsonReader reader(value, "idle");
  IdlePolicy idle;
  idle.stop_after = read_time(reader, "stop_after_ms");
  idle.archive_after = read_time(reader, "archive_after_ms");
  const std::string rule = reader.text("archive");
  bool known = false;
  for (const ArchiveRule candidate : kRules) {
    if (name_of(candidate) != rule) continue;
    idle.archive = candidate;
    known = true;
  }
  if (!known) reader.fail("archive is unknown: '" + rule + "'");
  outer.merge(reader.finish());
  return idle;
}

}  // namespace

// A source may be longer than a document's name.
DocumentId document_of_source(const std::string& source) {
  return {DocumentKind::kSource, base::sha256_hex(source)};
}

DocumentIndex index_of(const SourceDocument& document) {
  DocumentIndex index;
  index.source = document.source;
  if (document.idle != IdlePolicy{}) index.state = kHasIdlePolicy;
  return index;
}

std::string to_json(const SourceDocument& document) {
  const IdlePolicy& idle = document.idle;
  return base::dump_json({{"version", kVersion},
                          {"source", document.source},
                          {"deleted_at", document.deleted_at.time_since_epoch().count()},
                          {"idle",
                           {{"stop_after_ms", write_time(idle.stop_after)},
                            {"archive_after_ms", write_time(idle.archive_after)},
                            {"archive", name_of(idle.archive)}}}});
}

Result<SourceDocument> parse_source(std::string_view text) {
  auto parsed = base::parse_json(text);
  if (!parsed) return Error(ErrorCode::kIntegrity, "not a source").with_cause(parsed.error());
  JsonReader reader(*parsed, "source");
  const std::uint64_t version = reader.number("version");
  if (version != kVersion && version != kWithoutIdle) {
    return Error(ErrorCode::kIntegrity, "not a source of version 1 or 2");
  }
  SourceDocument document;
  document.source = reader.text("source");
  document.deleted_at = reader.time("deleted_at");
  if (version == kVersion) {
    if (const json* idle = reader.member("idle")) document.idle = read_idle(reader, *idle);
  }
  COVE_TRY_VOID(reader.finish());
  return document;
}

}  // namespace cove::lifecycle

#include "lifecycle/requests/source.hpp"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"
#include "lifecycle/requests/settle.hpp"

namespace cove::lifecycle {
namespace {

// A source may be longer than a document's name.
DocumentId document_of_source(const std::string& source) {
  return {DocumentKind::kSource, base::sha256_hex(source)};
}

Result<bool> is_deleted(const std::string& body) {
  COVE_TRY(const auto parsed, base::parse_json(body));
  JsonReader reader(parsed, "source");
  if (reader.number("version") != 1) {
    return Error(ErrorCode::kIntegrity, "not a source of version 1");
  }
  (void)reader.text("source");
  const StoreTime deleted_at = reader.time("deleted_at");
  COVE_TRY_VOID(reader.finish());
  return deleted_at != StoreTime{};
}

/// Writes when the source was deleted; 1970 = it was not. Twice is as good as once.
Task<Result<void>> write_source(Core& core, std::string source, StoreTime deleted_at,
                                const CallContext& call) {
  const DocumentId name = document_of_source(source);
  Document document;
  document.body = base::dump_json(
      {{"version", 1u}, {"source", source}, {"deleted_at", deleted_at.time_since_epoch().count()}});
  document.index.source = source;
  for (int round = 0;; ++round) {
    COVE_CO_TRY(const auto found, co_await core.parts.store.find(name, call));
    Result<Version> written = Error(ErrorCode::kInternal, "nothing was written");
    if (found) {
      written = co_await core.parts.store.compare_and_swap(name, found->version, document,
                                                           Durability::kDurable, call);
    } else {
      written = co_await core.parts.store.insert(name, document, Durability::kDurable, call);
    }
    if (written) co_return ok();
    const ErrorCode code = written.error().code();
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kAlreadyExists ||
                       code == ErrorCode::kUnavailable;
    if (!again || round >= 10) co_return written.error();
  }
}

}  // namespace

Task<Result<void>> check_source(Core& core, WorkspaceKey key, const CallContext& call) {
  const std::string source = key.source_type + "/" + key.source_id;
  const DocumentId name = document_of_source(source);
  COVE_CO_TRY(const auto found, co_await core.parts.store.find(name, call));
  if (!found) co_return ok();
  COVE_CO_TRY(const bool deleted, is_deleted(found->document.body));
  if (!deleted) co_return ok();
  co_return Error(ErrorCode::kFailedPrecondition,
                  "source '" + source + "' was deleted; revive it to use its workspaces again");
}

Task<Result<std::uint32_t>> destroy_source(std::shared_ptr<Core> core, std::string source,
                                           const CallContext& call) {
  COVE_CO_TRY(const StoreTime now, co_await core->records.now(call));
  COVE_CO_TRY_VOID(co_await write_source(*core, source, now, call));
  DocumentQuery query;
  query.source = source;
  std::uint32_t destroyed = 0;
  std::uint32_t in_pass = 0;
  std::optional<Error> first_error;
  for (;;) {
    COVE_CO_TRY(const auto page, co_await core->records.query(query, call));
    for (const StoredDocument& document : page.documents) {
      const SandboxId sandbox(document.id.name);
      const auto done = co_await settle(core, sandbox, Goal::kGone, StopDrain::kCancel, call);
      if (done || done.error().code() == ErrorCode::kNotFound) {
        ++in_pass;
      } else if (!first_error) {
        first_error = done.error();
      }
    }
    query.after = page.next;
    if (!query.after.empty()) continue;
    // From the start again until a whole pass finds none: one may have come meanwhile.
    if (in_pass == 0) break;
    destroyed += std::exchange(in_pass, 0);
    first_error.reset();
  }
  if (first_error) co_return *first_error;
  co_return destroyed;
}

Task<Result<void>> revive_source(std::shared_ptr<Core> core, std::string source,
                                 const CallContext& call) {
  co_return co_await write_source(*core, std::move(source), StoreTime{}, call);
}

}  // namespace cove::lifecycle

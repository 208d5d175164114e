#include "lifecycle/records/record_store.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/async/timing.hpp"
#include "base/system/system_clock.hpp"
#include "base/text/json.hpp"
#include "lifecycle/records/json_reader.hpp"

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

// Conflicts mean that somebody else got on; so many in a row mean that something is wrong.
constexpr int kMaxRounds = 200;
constexpr auto kUnsureFor = 30s;

DocumentId deployment_document() { return {DocumentKind::kDeployment, "deployment"}; }

DocumentId tombstone_document(const SandboxId& sandbox) {
  return {DocumentKind::kTombstone, sandbox.str()};
}

Result<DeploymentId> parse_deployment(const std::string& body) {
  COVE_TRY(const auto parsed, base::parse_json(body));
  JsonReader reader(parsed, "the deployment's document");
  if (reader.number("version") != 1) {
    return Error(ErrorCode::kIntegrity, "the store was made by another version of Cove");
  }
  auto id = reader.id<DeploymentId>("deployment");
  COVE_TRY_VOID(reader.finish());
  return id;
}

}  // namespace

DocumentId document_of(const SandboxId& sandbox) { return {DocumentKind::kSandbox, sandbox.str()}; }

DocumentIndex index_of(const Record& record) {
  DocumentIndex index;
  index.state = name_of(record.state);
  index.source = record.key.source_type + "/" + record.key.source_id;
  index.node = record.node.str();
  index.active_at = record.last_active_at;
  if (record.operation) {
    index.heartbeat_at = record.operation->heartbeat_at;
  } else if (!record.garbage.empty() || !record.needs_attention.empty()) {
    index.heartbeat_at = StoreTime{};
  }
  return index;
}

bool is_unsure(const Error& error) {
  return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kTimeout ||
         error.code() == ErrorCode::kCancelled;
}

Task<Result<void>> RecordStore::pause(int round, const CallContext& call) {
  // Longer with each round, so that many writers of one record do not keep each other from it.
  const auto length = std::min<std::chrono::milliseconds>(1ms * (1 << std::min(round, 7)), 100ms);
  const Instant when = clock_.now() + length;
  co_return co_await base::sleep_until(scheduler_, when, call);
}

Task<Result<DeploymentId>> RecordStore::deployment(IdSource& ids, const CallContext& call) {
  const DocumentId name = deployment_document();
  for (int round = 0;; ++round) {
    COVE_CO_TRY(const auto found, co_await store_.find(name, call));
    if (found) co_return parse_deployment(found->document.body);
    Document document;
    document.body = base::dump_json({{"version", 1u}, {"deployment", base::random_name(ids)}});
    auto inserted = co_await store_.insert(name, document, Durability::kDurable, call);
    if (inserted) continue;  // read it back: it may be another's, made in the same moment
    const bool again = inserted.error().code() == ErrorCode::kAlreadyExists ||
                       inserted.error().code() == ErrorCode::kUnavailable;
    if (!again || round >= 10) co_return inserted.error();
    COVE_CO_TRY_VOID(co_await pause(round, call));
  }
}

Task<Result<void>> RecordStore::adopt(DeploymentId deployment, const CallContext& call) {
  const DocumentId name = deployment_document();
  COVE_CO_TRY(const auto found, co_await store_.find(name, call));
  if (!found) co_return Error(ErrorCode::kInternal, "the store has no deployment");
  Document document;
  document.body = base::dump_json({{"version", 1u}, {"deployment", deployment.str()}});
  const auto swapped =
      co_await store_.compare_and_swap(name, found->version, document, Durability::kDurable, call);
  if (!swapped) co_return swapped.error();
  co_return ok();
}

Task<Result<std::optional<StoredRecord>>> RecordStore::load(const SandboxId& sandbox,
                                                            const CallContext& call) {
  const DocumentId name = document_of(sandbox);
  COVE_CO_TRY(const auto found, co_await store_.find(name, call));
  if (!found) co_return std::optional<StoredRecord>();
  auto record = parse_record(found->document.body);
  if (!record) co_return record.error().with_context("sandbox", sandbox.str());
  co_return std::optional<StoredRecord>(StoredRecord{*std::move(record), found->version});
}

Task<Result<std::optional<StoredRecord>>> RecordStore::load_again(const SandboxId& sandbox,
                                                                  const CallContext& call) {
  const Instant until = clock_.now() + kUnsureFor;
  for (int round = 0;; ++round) {
    auto loaded = co_await load(sandbox, call);
    const bool again = !loaded && loaded.error().code() == ErrorCode::kUnavailable;
    if (!again || clock_.now() >= until) co_return loaded;
    COVE_CO_TRY_VOID(co_await pause(round, call));
  }
}

Task<Result<Version>> RecordStore::insert(const Record& record, const CallContext& call) {
  const DocumentId name = document_of(record.sandbox_id);
  const Document document{to_json(record), index_of(record)};
  co_return co_await store_.insert(name, document, Durability::kDurable, call);
}

Task<Result<Version>> RecordStore::swap(Version expected, const Record& next, Durability durability,
                                        const CallContext& call) {
  const DocumentId name = document_of(next.sandbox_id);
  const Document document{to_json(next), index_of(next)};
  co_return co_await store_.compare_and_swap(name, expected, document, durability, call);
}

Task<Result<void>> RecordStore::remove(const SandboxId& sandbox, Version expected,
                                       const CallContext& call) {
  const DocumentId name = document_of(sandbox);
  co_return co_await store_.remove(name, expected, call);
}

Task<Result<std::optional<StoredRecord>>> RecordStore::update(const SandboxId& sandbox,
                                                              Durability durability, Change change,
                                                              const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(auto found, co_await load(sandbox, call));
    if (!found) co_return found;
    COVE_CO_TRY(const StoreTime time, co_await now(call));
    COVE_CO_TRY(auto next, change(found->record, time));
    if (!next) co_return found;
    auto swapped = co_await swap(found->version, *next, durability, call);
    if (swapped) {
      co_return std::optional<StoredRecord>(StoredRecord{*std::move(next), *swapped});
    }
    const ErrorCode code = swapped.error().code();
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kUnavailable;
    const int most = code == ErrorCode::kConflict ? kMaxRounds : 10;
    if (!again || round >= most) co_return swapped.error();
    COVE_CO_TRY_VOID(co_await pause(round, call));
  }
}

Task<Result<std::optional<StoredTombstone>>> RecordStore::tombstone(const SandboxId& sandbox,
                                                                    const CallContext& call) {
  const DocumentId name = tombstone_document(sandbox);
  COVE_CO_TRY(const auto found, co_await store_.find(name, call));
  if (!found) co_return std::optional<StoredTombstone>();
  COVE_CO_TRY(auto parsed, parse_tombstone(found->document.body));
  co_return std::optional<StoredTombstone>(StoredTombstone{std::move(parsed), found->version});
}

Task<Result<void>> RecordStore::write_tombstone(const std::optional<StoredTombstone>& known,
                                                const Tombstone& next, const CallContext& call) {
  const DocumentId name = tombstone_document(next.sandbox_id);
  if (next.graves.empty()) {
    if (!known) co_return ok();
    co_return co_await store_.remove(name, known->version, call);
  }
  Document document;
  document.body = to_json(next);
  document.index.active_at = next.graves.front().destroyed_at;
  // Where there are too many graves the sweep finds it at once, however young they are.
  if (next.graves.size() > kMaxGraves) document.index.active_at = StoreTime{};
  if (!known) {
    auto inserted = co_await store_.insert(name, document, Durability::kDurable, call);
    if (!inserted) co_return inserted.error();
    co_return ok();
  }
  auto swapped =
      co_await store_.compare_and_swap(name, known->version, document, Durability::kDurable, call);
  if (!swapped) co_return swapped.error();
  co_return ok();
}

Task<Result<void>> RecordStore::bury(const SandboxId& sandbox, Grave grave,
                                     const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(const auto known, co_await tombstone(sandbox, call));
    Tombstone next{sandbox, {}};
    if (known) next = known->tombstone;
    next = lifecycle::bury(std::move(next), grave);
    auto written = co_await write_tombstone(known, next, call);
    if (written) co_return written;
    const ErrorCode code = written.error().code();
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kAlreadyExists ||
                       code == ErrorCode::kUnavailable;
    if (!again || round >= 10) co_return written;
    COVE_CO_TRY_VOID(co_await pause(round, call));
  }
}

Task<Result<void>> RecordStore::unbury(const SandboxId& sandbox, Grave grave,
                                       const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(const auto known, co_await tombstone(sandbox, call));
    if (!known) co_return ok();
    Tombstone next = known->tombstone;
    const auto same = [&](const Grave& other) { return other.incarnation == grave.incarnation; };
    const auto found = std::find_if(next.graves.begin(), next.graves.end(), same);
    if (found == next.graves.end()) co_return ok();
    if (grave.volumes.empty()) {
      next.graves.erase(found);
    } else {
      *found = grave;
    }
    auto written = co_await write_tombstone(known, next, call);
    if (written) co_return written;
    const ErrorCode code = written.error().code();
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kUnavailable;
    if (!again || round >= 10) co_return written;
    COVE_CO_TRY_VOID(co_await pause(round, call));
  }
}

}  // namespace cove::lifecycle

#include "support/sim/sim_store.hpp"

#include <algorithm>
#include <utility>

namespace cove::testing {
namespace {

bool fits(const Document& document, const DocumentQuery& query) {
  const DocumentIndex& index = document.index;
  if (query.state && (index.state.empty() || index.state != *query.state)) return false;
  if (query.source && (index.source.empty() || index.source != *query.source)) return false;
  if (query.node && (index.node.empty() || index.node != *query.node)) return false;
  if (query.active_before && !(index.active_at && *index.active_at < *query.active_before)) {
    return false;
  }
  if (query.heartbeat_before &&
      !(index.heartbeat_at && *index.heartbeat_at < *query.heartbeat_before)) {
    return false;
  }
  if (query.order == QueryOrder::kByActivity) return index.active_at.has_value();
  if (query.order == QueryOrder::kByHeartbeat) return index.heartbeat_at.has_value();
  return true;
}

std::int64_t order_of(const Document& document, QueryOrder order) {
  if (order == QueryOrder::kByActivity) return document.index.active_at->time_since_epoch().count();
  if (order == QueryOrder::kByHeartbeat) {
    return document.index.heartbeat_at->time_since_epoch().count();
  }
  return 0;
}

}  // namespace

void SimStoreState::set(const DocumentId& id, std::optional<Entry> next) {
  if (next) {
    next->version = Version(next_version_++);
    documents_[id] = *std::move(next);
  } else {
    documents_.erase(id);
  }
}

void SimStoreState::put(const DocumentId& id, std::optional<Document> next, Durability durability) {
  ++writes_;
  const auto found = documents_.find(id);
  std::optional<Entry> before;
  if (found != documents_.end()) before = found->second;
  undo_.emplace_back(id, before);
  std::optional<Entry> entry;
  if (next) {
    entry.emplace();
    entry->document = *std::move(next);
    if (id.kind == DocumentKind::kSandbox) {
      entry->record = std::make_shared<Record>(parse_record(entry->document.body).value());
    }
  }
  const std::shared_ptr<const Record> after = entry ? entry->record : nullptr;
  set(id, std::move(entry));
  if (durability == Durability::kDurable) undo_.clear();
  const bool tells = id.kind == DocumentKind::kSandbox && on_change;
  if (tells) on_change(before ? before->record.get() : nullptr, after.get());
}

void SimStoreState::lose_power() {
  const auto lost = documents_;
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) set(undo->first, undo->second);
  std::map<DocumentId, bool> told;
  for (const auto& [id, entry] : std::exchange(undo_, {})) {
    const bool tells = id.kind == DocumentKind::kSandbox && on_rollback;
    if (!tells || !told.emplace(id, true).second) continue;
    const auto before = lost.find(id);
    const auto after = documents_.find(id);
    on_rollback(before == lost.end() ? nullptr : before->second.record.get(),
                after == documents_.end() ? nullptr : after->second.record.get());
  }
}

void SimStoreState::forget(const SandboxId& sandbox) {
  const DocumentId id{DocumentKind::kSandbox, sandbox.str()};
  documents_.erase(id);
  ++losses_[id];
  std::erase_if(undo_, [&](const auto& undo) { return undo.first == id; });
}

const Record* SimStoreState::find(const SandboxId& sandbox) const {
  const auto found = documents_.find(DocumentId{DocumentKind::kSandbox, sandbox.str()});
  return found == documents_.end() ? nullptr : found->second.record.get();
}

std::optional<Record> SimStoreState::record(const SandboxId& sandbox) const {
  const Record* found = find(sandbox);
  return found == nullptr ? std::nullopt : std::optional<Record>(*found);
}

std::vector<Record> SimStoreState::records() const {
  std::vector<Record> records;
  for (const auto& [id, entry] : documents_) {
    if (entry.record) records.push_back(*entry.record);
  }
  return records;
}

std::optional<std::string> SimStoreState::body(const DocumentId& id) const {
  const auto found = documents_.find(id);
  if (found == documents_.end()) return std::nullopt;
  return found->second.document.body;
}

std::size_t SimStoreState::count(DocumentKind kind) const {
  return static_cast<std::size_t>(
      std::count_if(documents_.begin(), documents_.end(),
                    [kind](const auto& entry) { return entry.first.kind == kind; }));
}

/// Names a write by what the record says after it: "swap archive archive_uploaded".
std::string SimStore::name_of_write(const char* verb, const DocumentId& id,
                                    const Document& document) const {
  if (!host_.world().names_places()) return verb;
  if (id.kind != DocumentKind::kSandbox) return std::string(verb) + " document";
  const auto record = parse_record(document.body);
  if (!record) return std::string(verb) + " broken record";
  if (!record->operation) return std::string(verb) + " " + std::string(name_of(record->state));
  return std::string(verb) + " " + std::string(name_of(record->operation->kind)) + " " +
         std::string(name_of(record->operation->phase));
}

Task<Result<Version>> SimStore::insert(const DocumentId& id, const Document& document,
                                       Durability durability, const CallContext& call) {
  const auto effect = [state = &state_, id, document, durability,
                       losses = state_.losses_[id]]() -> Result<Version> {
    if (state->losses_[id] != losses) return Error(ErrorCode::kUnavailable, "it was lost");
    if (state->documents_.contains(id)) return Error(ErrorCode::kAlreadyExists, "it is there");
    state->put(id, document, durability);
    return state->documents_.at(id).version;
  };
  co_return co_await remote<Version>(host_, name_of_write("insert", id, document), effect, call);
}

Task<Result<std::optional<StoredDocument>>> SimStore::find(const DocumentId& id,
                                                           const CallContext& call) {
  using Found = std::optional<StoredDocument>;
  const auto effect = [state = &state_, id]() -> Result<Found> {
    const auto found = state->documents_.find(id);
    if (found == state->documents_.end()) return Found();
    return Found(StoredDocument{id, found->second.version, found->second.document});
  };
  co_return co_await remote<Found>(host_, "find", effect, call);
}

Task<Result<Version>> SimStore::compare_and_swap(const DocumentId& id, Version expected,
                                                 const Document& next, Durability durability,
                                                 const CallContext& call) {
  const auto effect = [state = &state_, id, expected, next, durability]() -> Result<Version> {
    const auto found = state->documents_.find(id);
    if (found == state->documents_.end() || found->second.version != expected) {
      return Error(ErrorCode::kConflict, "the version differs");
    }
    state->put(id, next, durability);
    return state->documents_.at(id).version;
  };
  co_return co_await remote<Version>(host_, name_of_write("swap", id, next), effect, call);
}

Task<Result<void>> SimStore::remove(const DocumentId& id, Version expected,
                                    const CallContext& call) {
  const auto effect = [state = &state_, id, expected]() -> Result<void> {
    const auto found = state->documents_.find(id);
    if (found == state->documents_.end() || found->second.version != expected) {
      return Error(ErrorCode::kConflict, "the version differs");
    }
    state->put(id, std::nullopt, Durability::kDurable);
    return ok();
  };
  co_return co_await remote<void>(host_, "remove record", effect, call);
}

Task<Result<DocumentPage>> SimStore::query(const DocumentQuery& query, const CallContext& call) {
  const auto effect = [state = &state_, query]() -> Result<DocumentPage> {
    std::map<std::pair<std::int64_t, std::string>, StoredDocument> sorted;
    for (const auto& [id, entry] : state->documents_) {
      if (id.kind != query.kind || !fits(entry.document, query)) continue;
      sorted[{order_of(entry.document, query.order), id.name}] = {id, entry.version,
                                                                  entry.document};
    }
    DocumentPage page;
    for (const auto& [key, document] : sorted) {
      const std::string token = std::to_string(key.first + (std::int64_t{1} << 60)) + key.second;
      if (!query.after.empty() && token <= query.after) continue;
      if (page.documents.size() == query.limit) break;
      page.documents.push_back(document);
      page.next = token;
    }
    if (page.documents.size() < query.limit) page.next.clear();
    return page;
  };
  co_return co_await remote<DocumentPage>(host_, "query", effect, call);
}

Task<Result<StoreTime>> SimStore::now(const CallContext& call) {
  const auto effect = [world = &state_.world_]() -> Result<StoreTime> {
    return world->store_time();
  };
  co_return co_await remote<StoreTime>(host_, "now", effect, call);
}

}  // namespace cove::testing

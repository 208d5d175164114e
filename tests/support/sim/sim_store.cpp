#include "support/sim/sim_store.hpp"

#include <algorithm>
#include <utility>

namespace cove::testing {
namespace {

/// Names a write by what the record says after it: "swap archive archive_uploaded".
std::string name_of_write(const char* verb, const DocumentId& id, const Document& document) {
  if (id.kind != DocumentKind::kSandbox) return std::string(verb) + " document";
  const auto record = parse_record(document.body);
  if (!record) return std::string(verb) + " broken record";
  if (!record->operation) return std::string(verb) + " " + std::string(name_of(record->state));
  return std::string(verb) + " " + std::string(name_of(record->operation->kind)) + " " +
         std::string(name_of(record->operation->phase));
}

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

void SimStoreState::put(const DocumentId& id, std::optional<Document> next, Durability durability) {
  ++writes_;
  const auto found = documents_.find(id);
  std::optional<Document> before;
  if (found != documents_.end()) before = found->second.document;
  undo_.emplace_back(id, std::move(before));
  if (next) {
    documents_[id] = Entry{Version(next_version_++), *std::move(next)};
  } else {
    documents_.erase(id);
  }
  if (durability == Durability::kDurable) undo_.clear();
}

void SimStoreState::lose_power() {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    if (undo->second) {
      documents_[undo->first] = Entry{Version(next_version_++), *undo->second};
    } else {
      documents_.erase(undo->first);
    }
  }
  undo_.clear();
}

std::optional<Record> SimStoreState::record(const SandboxId& sandbox) const {
  const auto found = documents_.find(DocumentId{DocumentKind::kSandbox, sandbox.str()});
  if (found == documents_.end()) return std::nullopt;
  return parse_record(found->second.document.body).value();
}

std::vector<Record> SimStoreState::records() const {
  std::vector<Record> records;
  for (const auto& [id, entry] : documents_) {
    if (id.kind == DocumentKind::kSandbox) {
      records.push_back(parse_record(entry.document.body).value());
    }
  }
  return records;
}

std::size_t SimStoreState::count(DocumentKind kind) const {
  return static_cast<std::size_t>(
      std::count_if(documents_.begin(), documents_.end(),
                    [kind](const auto& entry) { return entry.first.kind == kind; }));
}

Task<Result<Version>> SimStore::insert(const DocumentId& id, const Document& document,
                                       Durability durability, const CallContext& call) {
  const auto effect = [state = &state_, id, document, durability]() -> Result<Version> {
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
    if (id.kind == DocumentKind::kSandbox && state->on_remove) {
      state->on_remove(parse_record(found->second.document.body).value());
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

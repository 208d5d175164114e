#include "parts/documents.hpp"

#include <utility>

#include "options.hpp"

namespace cove::capi {
namespace {

static_assert(static_cast<int>(DocumentKind::kDeployment) == COVE_DOCUMENT_DEPLOYMENT);
static_assert(static_cast<int>(DocumentKind::kTombstone) == COVE_DOCUMENT_TOMBSTONE);
static_assert(static_cast<int>(QueryOrder::kByName) == COVE_ORDER_NAME);
static_assert(static_cast<int>(QueryOrder::kByActivity) == COVE_ORDER_ACTIVE);
static_assert(static_cast<int>(QueryOrder::kByHeartbeat) == COVE_ORDER_HEARTBEAT);

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

std::optional<StoreTime> time_of(std::uint32_t times, std::uint32_t bit, std::int64_t ms) {
  if ((times & bit) == 0) return std::nullopt;
  return StoreTime(std::chrono::milliseconds(ms));
}

/// Writes a time where there is one, and its bit.
void write_time(const std::optional<StoreTime>& time, std::uint32_t bit, std::int64_t& ms,
                std::uint32_t& times) {
  if (!time) return;
  ms = time->time_since_epoch().count();
  times |= bit;
}

const char* filter_of(const std::optional<std::string>& wanted) {
  return wanted ? wanted->c_str() : nullptr;
}

bool holds(const std::optional<std::string>& wanted, const std::string& value) {
  return !wanted || (!value.empty() && value == *wanted);
}

bool holds(const std::optional<StoreTime>& before, const std::optional<StoreTime>& value) {
  return !before || (value && *value < *before);
}

bool matches(const DocumentQuery& query, const StoredDocument& found) {
  const DocumentIndex& index = found.document.index;
  return found.id.kind == query.kind && holds(query.state, index.state) &&
         holds(query.source, index.source) && holds(query.node, index.node) &&
         holds(query.active_before, index.active_at) &&
         holds(query.heartbeat_before, index.heartbeat_at);
}

Error wrong_page(const std::string& what) {
  return {ErrorCode::kInternal, "the application's metadata store answered 'query' with " + what};
}

}  // namespace

Result<StoredDocument> document_of(const cove_document& read) {
  if (read.kind < COVE_DOCUMENT_DEPLOYMENT || read.kind > COVE_DOCUMENT_TOMBSTONE) {
    return Error(ErrorCode::kInvalidArgument,
                 "cove_document.kind is " + std::to_string(read.kind) + ", which is none");
  }
  COVE_TRY_VOID(require(read.name, "cove_document.name"));
  COVE_TRY_VOID(
      check_flags(read.times, COVE_TIME_ACTIVE | COVE_TIME_HEARTBEAT, "cove_document.times"));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_document.reserved0"));
  if (read.body_size > 0) COVE_TRY_VOID(require(read.body, "cove_document.body"));
  if (read.body_size > base::kMaxDocumentBody) {
    return Error(ErrorCode::kTooLarge,
                 "cove_document.body has " + std::to_string(read.body_size) + " bytes");
  }
  StoredDocument stored;
  stored.id = {static_cast<DocumentKind>(read.kind), read.name};
  stored.version = Version{read.version};
  if (read.body_size > 0) {
    stored.document.body.assign(static_cast<const char*>(read.body), read.body_size);
  }
  DocumentIndex& index = stored.document.index;
  index.state = text_of(read.state);
  index.source = text_of(read.source);
  index.node = text_of(read.node);
  index.active_at = time_of(read.times, COVE_TIME_ACTIVE, read.active_at_ms);
  index.heartbeat_at = time_of(read.times, COVE_TIME_HEARTBEAT, read.heartbeat_ms);
  COVE_TRY_VOID(base::check_document_id(stored.id));
  return stored;
}

GivenDocument::GivenDocument(const DocumentId& id, const Document& document)
    : name_(id.name), document_(document) {
  view_.struct_size = sizeof view_;
  view_.kind = static_cast<std::uint32_t>(id.kind);
  view_.name = name_.c_str();
  view_.body = document_.body.data();
  view_.body_size = document_.body.size();
  const DocumentIndex& index = document_.index;
  view_.state = index.state.c_str();
  view_.source = index.source.c_str();
  view_.node = index.node.c_str();
  write_time(index.active_at, COVE_TIME_ACTIVE, view_.active_at_ms, view_.times);
  write_time(index.heartbeat_at, COVE_TIME_HEARTBEAT, view_.heartbeat_ms, view_.times);
}

GivenQuery::GivenQuery(const DocumentQuery& query, const std::optional<base::PagePosition>& start)
    : query_(query), after_(start ? start->name : std::string()) {
  view_.struct_size = sizeof view_;
  view_.kind = static_cast<std::uint32_t>(query_.kind);
  view_.order = static_cast<std::uint32_t>(query_.order);
  view_.limit = query_.limit + 1;  // one more tells whether the page is the last
  view_.state = filter_of(query_.state);
  view_.source = filter_of(query_.source);
  view_.node = filter_of(query_.node);
  write_time(query_.active_before, COVE_TIME_ACTIVE, view_.active_before_ms, view_.times);
  write_time(query_.heartbeat_before, COVE_TIME_HEARTBEAT, view_.heartbeat_before_ms, view_.times);
  if (!start) return;
  view_.after_name = after_.c_str();
  view_.after_ms = start->time.time_since_epoch().count();
}

Result<void> check_index(const DocumentIndex& index) {
  for (const std::string* text : {&index.state, &index.source, &index.node}) {
    if (text->find('\0') == std::string::npos) continue;
    return Error(ErrorCode::kInvalidArgument, "a value of the document's index has a NUL byte");
  }
  return ok();
}

Result<DocumentPage> page_of(const DocumentQuery& query,
                             const std::optional<base::PagePosition>& start,
                             DocumentsAnswer answer) {
  if (answer.documents.size() > std::size_t{query.limit} + 1) {
    return wrong_page(std::to_string(answer.documents.size()) + " documents, and at most " +
                      std::to_string(query.limit + 1) + " were asked for");
  }
  if (answer.documents.empty() && !answer.is_last) {
    return wrong_page("nothing, and said that more follows");
  }
  base::PageBuilder page(query);
  std::optional<base::PagePosition> last = start;
  for (StoredDocument& document : answer.documents) {
    auto position = base::position_of(document.id, document.document.index, query.order);
    if (!position || !matches(query, document)) {
      return wrong_page("a document that was not asked for");
    }
    if (last && *position <= *last) return wrong_page("documents in another order");
    last = std::move(position);
    if (!page.add(std::move(document))) return std::move(page).finish();
  }
  if (!answer.is_last) page.end_early();
  return std::move(page).finish();
}

}  // namespace cove::capi

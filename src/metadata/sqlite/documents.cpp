#include "metadata/sqlite/documents.hpp"

#include "metadata/sqlite/schema.hpp"

namespace cove::metadata::sqlite {
namespace {

std::optional<std::int64_t> count_of(const std::optional<StoreTime>& time) {
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

std::optional<StoreTime> time_of(const std::optional<std::int64_t>& count) {
  if (!count) return std::nullopt;
  return StoreTime(std::chrono::milliseconds(*count));
}

/// An empty text is "none", which is NULL in the file and in no index.
void bind_text(Statement& statement, int parameter, const std::string& text) {
  if (text.empty()) {
    statement.bind(parameter, std::optional<std::int64_t>());
  } else {
    statement.bind(parameter, std::string_view(text));
  }
}

/// Parameters 1 to 9, the same in all statements here: kind, name, version, then the document.
void bind_document(Statement& statement, const DocumentId& id, Version version,
                   const Document& document) {
  statement.bind(1, static_cast<std::int64_t>(id.kind));
  statement.bind(2, std::string_view(id.name));
  statement.bind(3, static_cast<std::int64_t>(version));
  bind_text(statement, 4, document.index.state);
  bind_text(statement, 5, document.index.source);
  bind_text(statement, 6, document.index.node);
  statement.bind(7, count_of(document.index.active_at));
  statement.bind(8, count_of(document.index.heartbeat_at));
  statement.bind(9, std::string_view(document.body));
}

/// Writes the time into the file and, with `step` 1, takes the next version. It looks at the
/// schema's version too: a newer Cove may have changed the file while it was open here.
Result<Version> advance(Connection& connection, StoreClock& clock, std::int64_t step) {
  COVE_TRY(auto update,
           connection.statement("UPDATE cove_store SET last_version = last_version + ?1,"
                                " time_ms = max(time_ms, ?2), offset_ms = max(offset_ms, ?3)"
                                " WHERE schema_version = ?4 RETURNING last_version, offset_ms"));
  const StoreMoment moment = clock.now();
  update.bind(1, step);
  update.bind(2, moment.time);
  update.bind(3, moment.offset);
  update.bind(4, kSchemaVersion);
  COVE_TRY(const bool row, update.step());
  if (!row) return newer_schema(connection);
  const auto version = static_cast<Version>(update.integer(0));
  clock.learn_offset(update.integer(1));
  COVE_TRY_VOID(update.run());
  return version;
}

Error conflict() {
  return {ErrorCode::kConflict, "the document was changed or removed by somebody else"};
}

/// Returns whether the row was there. Most swaps leave state, source and node alone, and the
/// indexes that need not be touched then are the larger part of what a swap writes.
Result<bool> replace(Connection& connection, const DocumentId& id, Version expected,
                     Version version, const Document& next) {
  constexpr std::string_view kSameIndex =
      "UPDATE documents SET version = ?3, active_at = ?7, heartbeat_at = ?8, body = ?9"
      " WHERE kind = ?1 AND name = ?2 AND version = ?10"
      " AND state IS ?4 AND source IS ?5 AND node IS ?6";
  constexpr std::string_view kAll =
      "UPDATE documents SET version = ?3, state = ?4, source = ?5, node = ?6, active_at = ?7,"
      " heartbeat_at = ?8, body = ?9 WHERE kind = ?1 AND name = ?2 AND version = ?10";
  for (const std::string_view sql : {kSameIndex, kAll}) {
    COVE_TRY(auto update, connection.statement(sql));
    bind_document(update, id, version, next);
    update.bind(10, static_cast<std::int64_t>(expected));
    COVE_TRY_VOID(update.run());
    if (connection.changes() == 1) return true;
  }
  return false;
}

}  // namespace

Result<Version> insert_document(Connection& connection, StoreClock& clock, const DocumentId& id,
                                const Document& document) {
  Transaction transaction(connection);
  COVE_TRY_VOID(transaction.begin());
  COVE_TRY(const Version version, advance(connection, clock, 1));
  {
    COVE_TRY(auto insert,
             connection.statement("INSERT INTO documents(kind, name, version, state, source, node,"
                                  " active_at, heartbeat_at, body)"
                                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                                  " ON CONFLICT DO NOTHING"));
    bind_document(insert, id, version, document);
    COVE_TRY_VOID(insert.run());
  }
  if (connection.changes() == 0) {
    return Error(ErrorCode::kAlreadyExists, "the document is there already");
  }
  COVE_TRY_VOID(transaction.commit());
  return version;
}

Result<std::optional<StoredDocument>> find_document(Connection& connection, const DocumentId& id) {
  COVE_TRY(auto row,
           connection.statement("SELECT version, state, source, node, active_at, heartbeat_at, body"
                                " FROM documents WHERE kind = ?1 AND name = ?2"));
  row.bind(1, static_cast<std::int64_t>(id.kind));
  row.bind(2, std::string_view(id.name));
  COVE_TRY(const bool found, row.step());
  if (!found) return std::optional<StoredDocument>();
  return std::optional(stored_document(row, 0, id));
}

Result<Version> swap_document(Connection& connection, StoreClock& clock, const DocumentId& id,
                              Version expected, const Document& next) {
  Transaction transaction(connection);
  COVE_TRY_VOID(transaction.begin());
  COVE_TRY(const Version version, advance(connection, clock, 1));
  COVE_TRY(const bool replaced, replace(connection, id, expected, version, next));
  if (!replaced) return conflict();
  COVE_TRY_VOID(transaction.commit());
  return version;
}

Result<void> remove_document(Connection& connection, StoreClock& clock, const DocumentId& id,
                             Version expected) {
  Transaction transaction(connection);
  COVE_TRY_VOID(transaction.begin());
  COVE_TRY_VOID(advance(connection, clock, 0));
  {
    COVE_TRY(auto erase, connection.statement("DELETE FROM documents"
                                              " WHERE kind = ?1 AND name = ?2 AND version = ?3"));
    erase.bind(1, static_cast<std::int64_t>(id.kind));
    erase.bind(2, std::string_view(id.name));
    erase.bind(3, static_cast<std::int64_t>(expected));
    COVE_TRY_VOID(erase.run());
  }
  if (connection.changes() == 0) return conflict();
  return transaction.commit();
}

Result<std::int64_t> read_offset(Connection& connection) {
  COVE_TRY(auto row, connection.statement("SELECT offset_ms FROM cove_store"));
  COVE_TRY(const bool found, row.step());
  if (!found) return newer_schema(connection);
  return row.integer(0);
}

Result<void> keep_offset(Connection& connection, StoreClock& clock) {
  Transaction transaction(connection);
  COVE_TRY_VOID(transaction.begin());
  COVE_TRY_VOID(advance(connection, clock, 0));
  return transaction.commit();
}

StoredDocument stored_document(const Statement& row, int first, DocumentId id) {
  StoredDocument stored;
  stored.id = std::move(id);
  stored.version = static_cast<Version>(row.integer(first));
  DocumentIndex& index = stored.document.index;
  index.state = row.bytes(first + 1);
  index.source = row.bytes(first + 2);
  index.node = row.bytes(first + 3);
  index.active_at = time_of(row.optional_integer(first + 4));
  index.heartbeat_at = time_of(row.optional_integer(first + 5));
  stored.document.body = row.bytes(first + 6);
  return stored;
}

}  // namespace cove::metadata::sqlite

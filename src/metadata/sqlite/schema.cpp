#include "metadata/sqlite/schema.hpp"

namespace cove::metadata::sqlite {
namespace {

constexpr std::int64_t kApplicationId = 0x436F7665;  // "Cove"

// `body` comes last: a row's columns are found in order, and a large body lies on pages of its own.
constexpr std::string_view kTables[] = {
    "CREATE TABLE cove_store("
    " only INTEGER PRIMARY KEY CHECK (only = 1),"
    " schema_version INTEGER NOT NULL,"
    " last_version INTEGER NOT NULL,"
    " time_ms INTEGER NOT NULL,"
    " offset_ms INTEGER NOT NULL,"
    " boot_id TEXT NOT NULL"
    ") STRICT",
    "CREATE TABLE documents("
    " kind INTEGER NOT NULL,"
    " name BLOB NOT NULL,"
    " version INTEGER NOT NULL,"
    " state BLOB,"
    " source BLOB,"
    " node BLOB,"
    " active_at INTEGER,"
    " heartbeat_at INTEGER,"
    " body BLOB NOT NULL,"
    " UNIQUE (kind, name)"
    ") STRICT",
    "CREATE INDEX documents_by_state ON documents(kind, state, active_at, name)"
    " WHERE state IS NOT NULL",
    "CREATE INDEX documents_by_heartbeat ON documents(kind, heartbeat_at, name)"
    " WHERE heartbeat_at IS NOT NULL",
    "CREATE INDEX documents_by_source ON documents(kind, source, name) WHERE source IS NOT NULL",
    "CREATE INDEX documents_by_node ON documents(kind, node, name) WHERE node IS NOT NULL",
    "PRAGMA application_id = 1131378277",
    "INSERT INTO cove_store VALUES (1, 1, 0, 0, -9223372036854775808, '')",
};

Result<std::int64_t> read_integer(Connection& connection, std::string_view sql) {
  COVE_TRY(auto statement, connection.statement(sql));
  COVE_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Error foreign_file(const Connection& connection) {
  return {ErrorCode::kIntegrity, "metadata store '" + connection.file() +
                                     "': the file is a database, but no metadata store of Cove"};
}

Result<void> make_or_check_tables(Connection& connection) {
  COVE_TRY(const auto id, read_integer(connection, "PRAGMA application_id"));
  COVE_TRY(const auto objects, read_integer(connection, "SELECT count(*) FROM sqlite_schema"));
  if (id == 0 && objects == 0) {
    for (const std::string_view sql : kTables) COVE_TRY_VOID(connection.run(sql));
    return {};
  }
  if (id != kApplicationId) return foreign_file(connection);
  COVE_TRY(const auto tables, read_integer(connection,
                                           "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
                                           " AND name IN ('cove_store', 'documents')"));
  if (tables != 2) return foreign_file(connection);
  COVE_TRY(const auto version, read_integer(connection, "SELECT schema_version FROM cove_store"));
  if (version > kSchemaVersion) return newer_schema(connection);
  if (version < kSchemaVersion) return foreign_file(connection);
  return {};
}

/// The first process of a boot starts a new offset, from the newest time that the file knows.
Result<void> join_time(Connection& connection, StoreClock& clock) {
  COVE_TRY(const std::string boot_id, read_boot_id());
  bool same_boot = false;
  {
    COVE_TRY(auto row, connection.statement("SELECT time_ms, offset_ms, boot_id FROM cove_store"));
    COVE_TRY(const bool found, row.step());
    if (!found) return foreign_file(connection);
    same_boot = !boot_id.empty() && row.bytes(2) == boot_id;
    if (same_boot) {
      clock.learn_offset(row.integer(1));
    } else {
      clock.learn_time(row.integer(0));
    }
  }
  if (same_boot) return {};
  const StoreMoment moment = clock.now();
  COVE_TRY(auto update, connection.statement("UPDATE cove_store SET time_ms = ?1, offset_ms = ?2,"
                                             " boot_id = CAST(?3 AS TEXT)"));
  update.bind(1, moment.time);
  update.bind(2, moment.offset);
  update.bind(3, boot_id);
  return update.run();
}

}  // namespace

Result<void> prepare_schema(Connection& connection, StoreClock& clock) {
  Transaction transaction(connection);
  COVE_TRY_VOID(transaction.begin());
  COVE_TRY_VOID(make_or_check_tables(connection));
  COVE_TRY_VOID(join_time(connection, clock));
  return transaction.commit();
}

Error newer_schema(const Connection& connection) {
  return {ErrorCode::kUnsupported,
          "metadata store '" + connection.file() +
              "': a newer Cove has changed its form; use that version or a newer one"};
}

}  // namespace cove::metadata::sqlite

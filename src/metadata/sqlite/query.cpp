#include "metadata/sqlite/query.hpp"

#include "metadata/sqlite/documents.hpp"

namespace cove::metadata::sqlite {
namespace {

std::int64_t count_of(StoreTime time) { return time.time_since_epoch().count(); }

struct Order {
  std::string_view condition;  ///< leaves out what has no place in the order
  std::string_view after;
  std::string_view by;
};

Order order_of(QueryOrder order) {
  switch (order) {
    case QueryOrder::kByActivity:
      return {" AND active_at IS NOT NULL", " AND (active_at, name) > (?7, ?8)", "active_at, name"};
    case QueryOrder::kByHeartbeat:
      return {" AND heartbeat_at IS NOT NULL", " AND (heartbeat_at, name) > (?7, ?8)",
              "heartbeat_at, name"};
    case QueryOrder::kByName: break;
  }
  return {"", " AND name > ?8", "name"};
}

void bind_filters(Statement& statement, const DocumentQuery& query) {
  statement.bind(1, static_cast<std::int64_t>(query.kind));
  if (query.state) statement.bind(2, std::string_view(*query.state));
  if (query.source) statement.bind(3, std::string_view(*query.source));
  if (query.node) statement.bind(4, std::string_view(*query.node));
  if (query.active_before) statement.bind(5, count_of(*query.active_before));
  if (query.heartbeat_before) statement.bind(6, count_of(*query.heartbeat_before));
}

}  // namespace

std::string page_sql(const DocumentQuery& query, bool from_start) {
  const Order order = order_of(query.order);
  std::string sql =
      "SELECT name, version, state, source, node, active_at, heartbeat_at, body FROM documents"
      " WHERE kind = ?1";
  if (query.state) sql += " AND state = ?2";
  if (query.source) sql += " AND source = ?3";
  if (query.node) sql += " AND node = ?4";
  if (query.active_before) sql += " AND active_at < ?5";
  if (query.heartbeat_before) sql += " AND heartbeat_at < ?6";
  sql += order.condition;
  if (!from_start) sql += order.after;
  return sql.append(" ORDER BY ").append(order.by).append(" LIMIT ?9");
}

Result<DocumentPage> query_page(Connection& connection, const DocumentQuery& query,
                                const std::optional<base::PagePosition>& start) {
  COVE_TRY(auto rows, connection.statement(page_sql(query, !start)));
  bind_filters(rows, query);
  if (start) {
    // The order by name has no ?7; SQLite still counts it as a parameter, below ?8.
    rows.bind(7, count_of(start->time));
    rows.bind(8, std::string_view(start->name));
  }
  rows.bind(9, std::int64_t{query.limit} + 1);
  base::PageBuilder page(query);
  for (;;) {
    COVE_TRY(const bool row, rows.step());
    if (!row) break;
    if (!page.add(stored_document(rows, 1, DocumentId{query.kind, rows.bytes(0)}))) break;
  }
  return std::move(page).finish();
}

std::string_view count_sql() {
  return "SELECT state, count(*) FROM documents WHERE kind = ?1 AND state IS NOT NULL"
         " GROUP BY state";
}

Result<StateCounts> count_states(Connection& connection, DocumentKind kind) {
  COVE_TRY(auto rows, connection.statement(count_sql()));
  rows.bind(1, static_cast<std::int64_t>(kind));
  StateCounts counts;
  for (;;) {
    COVE_TRY(const bool row, rows.step());
    if (!row) return counts;
    counts[rows.bytes(0)] = static_cast<std::uint64_t>(rows.integer(1));
  }
}

}  // namespace cove::metadata::sqlite

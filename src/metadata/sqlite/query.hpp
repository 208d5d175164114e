/// A page of documents, as SQL.
#pragma once

#include <string>
#include <string_view>

#include "base/text/document_rules.hpp"
#include "metadata/sqlite/connection.hpp"

namespace cove::metadata::sqlite {

/// The statement for a query of this shape. Parameters: 1 kind, 2 state, 3 source, 4 node,
/// 5 active_before, 6 heartbeat_before, 7 and 8 the place to go on after, 9 rows at most.
std::string page_sql(const DocumentQuery& query, bool from_start);

/// `start` is what base::start_of gave for `query`.
Result<DocumentPage> query_page(Connection& connection, const DocumentQuery& query,
                                const std::optional<base::PagePosition>& start);

/// The statement that counts by state; parameter 1 is the kind. It reads an index alone.
std::string_view count_sql();

Result<StateCounts> count_states(Connection& connection, DocumentKind kind);

}  // namespace cove::metadata::sqlite

/// The four operations on one document, and the store's time, as SQL.
///
/// Those that write do it in a transaction of their own: done, or nothing done.
#pragma once

#include <cstdint>
#include <optional>

#include "metadata/sqlite/connection.hpp"
#include "metadata/sqlite/store_clock.hpp"

namespace cove::metadata::sqlite {

Result<Version> insert_document(Connection& connection, StoreClock& clock, const DocumentId& id,
                                const Document& document);
Result<std::optional<StoredDocument>> find_document(Connection& connection, const DocumentId& id);
Result<Version> swap_document(Connection& connection, StoreClock& clock, const DocumentId& id,
                              Version expected, const Document& next);
Result<void> remove_document(Connection& connection, StoreClock& clock, const DocumentId& id,
                             Version expected);

/// The offset that the file keeps for this boot.
Result<std::int64_t> read_offset(Connection& connection);

/// Writes the clock's offset into the file.
Result<void> keep_offset(Connection& connection, StoreClock& clock);

/// The columns from `first` on: version, state, source, node, active_at, heartbeat_at, body.
StoredDocument stored_document(const Statement& row, int first, DocumentId id);

}  // namespace cove::metadata::sqlite

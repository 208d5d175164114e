/// The tables of the file: made once, then checked at each open. docs/formats.md explains them.
#pragma once

#include <cstdint>

#include "metadata/sqlite/connection.hpp"
#include "metadata/sqlite/store_clock.hpp"

namespace cove::metadata::sqlite {

inline constexpr std::int64_t kSchemaVersion = 1;

/// Makes the tables in an empty file, else checks that they are Cove's and of this version, and
/// brings `clock` and the file's time together.
/// kIntegrity - the file is a database of something else, or damaged; kUnsupported - it is newer.
Result<void> prepare_schema(Connection& connection, StoreClock& clock);

/// The answer to a file whose schema_version is no longer kSchemaVersion.
Error newer_schema(const Connection& connection);

}  // namespace cove::metadata::sqlite

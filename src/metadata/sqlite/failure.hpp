/// SQLite's result codes, turned into Cove's errors.
#pragma once

#include <string>

#include <sqlite3.h>

#include <cove/error.hpp>

namespace cove::metadata::sqlite {

/// Another connection holds a lock: nothing was done, and a repeat may succeed.
bool is_busy(int code) noexcept;

/// What `code`, the result of the last call on `db`, means to Cove's callers. `path` names the file
/// in the message. `db` may be null, where there was no memory to open it.
Error failure_of(sqlite3* db, int code, const std::string& path);

}  // namespace cove::metadata::sqlite

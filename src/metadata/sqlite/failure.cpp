#include "metadata/sqlite/failure.hpp"

#include <cerrno>

#include "base/system/system_error.hpp"

namespace cove::metadata::sqlite {
namespace {

bool is_out_of_room(int error_number) noexcept {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EMFILE ||
         error_number == ENFILE || error_number == ENOMEM;
}

ErrorCode code_of_io_error(int code, int error_number) noexcept {
  // What was not synced may be there after a crash or not, whatever the reason: no other code says
  // that a write is either done or not done.
  if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) return ErrorCode::kUnavailable;
  if (code == SQLITE_IOERR_NOMEM || is_out_of_room(error_number)) return ErrorCode::kQuotaExceeded;
  if (code == SQLITE_IOERR_CORRUPTFS) return ErrorCode::kIntegrity;
  return ErrorCode::kUnavailable;
}

ErrorCode code_of_open_error(int error_number) noexcept {
  if (is_out_of_room(error_number)) return ErrorCode::kQuotaExceeded;
  switch (error_number) {
    case ENOENT: return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kPermissionDenied;
    default: return ErrorCode::kUnavailable;
  }
}

ErrorCode code_of(int code, int error_number) noexcept {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL: return ErrorCode::kUnavailable;
    case SQLITE_FULL:
    case SQLITE_NOMEM: return ErrorCode::kQuotaExceeded;
    case SQLITE_IOERR: return code_of_io_error(code, error_number);
    case SQLITE_CANTOPEN: return code_of_open_error(error_number);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT: return ErrorCode::kIntegrity;
    case SQLITE_READONLY:
      return code == SQLITE_READONLY_DBMOVED ? ErrorCode::kIntegrity : ErrorCode::kPermissionDenied;
    case SQLITE_PERM:
    case SQLITE_AUTH: return ErrorCode::kPermissionDenied;
    case SQLITE_TOOBIG: return ErrorCode::kTooLarge;
    case SQLITE_NOLFS: return ErrorCode::kUnsupported;
    default: return ErrorCode::kInternal;
  }
}

}  // namespace

bool is_busy(int code) noexcept {
  return (code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_PROTOCOL;
}

Error failure_of(sqlite3* db, int code, const std::string& path) {
  const int error_number = db != nullptr ? sqlite3_system_errno(db) : 0;
  const char* words = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  Error error(code_of(code, error_number), "metadata store '" + path + "': " + words);
  error = error.with_context("sqlite", std::to_string(code));
  const bool from_system = (code & 0xFF) == SQLITE_IOERR || (code & 0xFF) == SQLITE_CANTOPEN;
  if (!from_system || error_number == 0) return error;
  return error.with_cause(base::system_error(error_number, "the system's answer"));
}

}  // namespace cove::metadata::sqlite

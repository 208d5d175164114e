#include "metadata/sqlite/connection.hpp"

#include <cerrno>

#include <sys/mman.h>

#include "base/system/system_error.hpp"
#include "metadata/sqlite/failure.hpp"

namespace cove::metadata::sqlite {
namespace {

// All are per connection. `mmap_size`: a file cut short by others would kill the host by SIGBUS.
// `temp_store`: nothing is written to the host's /tmp. A checkpoint waits for the disk three times,
// so the WAL may have 4,000 pages (16 MB) before one; `journal_size_limit` cuts a WAL that a long
// reader let grow further.
constexpr const char* kSettings =
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA mmap_size = 0;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA wal_autocheckpoint = 4000;"
    "PRAGMA journal_size_limit = 33554432;"
    "PRAGMA synchronous = FULL;";

/// `text` for use in a SQLite URI, where nothing of it has a meaning of its own.
std::string uri_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4U];
    encoded += kDigits[byte & 15U];
  }
  return encoded;
}

}  // namespace

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

Result<void> Connection::connect(const std::string& mode_of) {
  // NOMUTEX: one thread at a time is this class's own rule. No part of SQLite's configuration for
  // the whole process is touched: the host may use SQLite as well.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
              SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
  std::string uri = "file:" + uri_encoded(path_);
  if (!mode_of.empty()) {
    flags |= SQLITE_OPEN_CREATE;
    uri += "?modeof=" + uri_encoded(mode_of);
  }
  const int code = sqlite3_open_v2(uri.c_str(), &db_, flags, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return configure();
}

Result<void> Connection::configure() {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  const int code = sqlite3_exec(db_, kSettings, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  COVE_TRY_VOID(enter_wal());
  return keep_room_for_index();
}

Result<void> Connection::enter_wal() {
  COVE_TRY(auto mode, statement("PRAGMA journal_mode = WAL"));
  COVE_TRY(const bool row, mode.step());
  if (row && mode.bytes(0) == "wal") return {};
  return Error(ErrorCode::kUnsupported,
               "metadata store '" + path_ +
                   "': this file system cannot share a WAL between processes; put the file on a "
                   "disk of this machine");
}

/// SQLite writes the index of the WAL through a mapping, and takes room for it a page at a time: on
/// a file system with smaller blocks the rest of a page is a hole, and a full disk then kills the
/// host by SIGBUS. Not by a descriptor of our own: to close one would drop SQLite's locks.
Result<void> Connection::keep_room_for_index() {
  constexpr int kIndexPart = 32 * 1024;  // as SQLite maps it; one part serves a WAL of 16 MB
  COVE_TRY_VOID(run("SELECT 1 FROM sqlite_schema"));  // from here on the index is there
  sqlite3_file* file = nullptr;
  int code = sqlite3_file_control(db_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return failure(code);
  volatile void* part = nullptr;
  code = file->pMethods->xShmMap(file, 0, kIndexPart, 0, &part);
  if (code != SQLITE_OK) return failure(code);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the page is touched, not read or written
  void* const page = const_cast<void*>(part);
  // EINVAL: a kernel before 5.14, where nothing better is known.
  if (page == nullptr || ::madvise(page, kIndexPart, MADV_POPULATE_WRITE) == 0 || errno == EINVAL) {
    return ok();
  }
  return Error(ErrorCode::kQuotaExceeded,
               "metadata store '" + path_ + "': no room on the disk for the index of its WAL")
      .with_cause(base::system_error(errno, "the system's answer"));
}

std::string Connection::file() const {
  const char* name = sqlite3_db_filename(db_, "main");
  return name != nullptr && *name != '\0' ? std::string(name) : path_;
}

Result<Statement> Connection::statement(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return Statement(*this, known->second);
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) return failure(code);
  statements_.emplace(sql, prepared);
  return Statement(*this, prepared);
}

Result<void> Connection::run(std::string_view sql) {
  COVE_TRY(auto prepared, statement(sql));
  return prepared.run();
}

Result<void> Connection::set_durability(Durability durability) {
  if (durability == durability_) return {};
  // Not through statement(): this pragma acts while it is prepared, so a kept one would do nothing.
  const char* sql = durability == Durability::kDurable ? "PRAGMA synchronous = FULL"
                                                       : "PRAGMA synchronous = NORMAL";
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  durability_ = durability;
  return {};
}

Result<void> Connection::start() {
  was_busy_ = false;
  int moved = 0;
  const int code = sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (code != SQLITE_OK) return failure(code);
  if (moved == 0) return {};
  return Error(ErrorCode::kIntegrity,
               "metadata store '" + path_ +
                   "': the file was moved or deleted while it is open; put it back");
}

Error Connection::failure(int code) {
  was_busy_ = was_busy_ || is_busy(code);
  return failure_of(db_, code, path_);
}

void Connection::roll_back() noexcept {
  if (sqlite3_get_autocommit(db_) != 0) return;
  // One that fails leaves nothing behind: the next BEGIN on this connection fails and says why, and
  // the file shows only what was committed.
  sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace cove::metadata::sqlite

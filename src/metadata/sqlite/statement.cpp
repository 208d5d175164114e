#include "metadata/sqlite/statement.hpp"

#include "metadata/sqlite/connection.hpp"

namespace cove::metadata::sqlite {

Statement::~Statement() {
  if (handle_ == nullptr) return;
  sqlite3_reset(handle_);  // repeats the error that step() gave; there is no other
  sqlite3_clear_bindings(handle_);
}

void Statement::bind(int parameter, std::int64_t value) noexcept {
  note(sqlite3_bind_int64(handle_, parameter, value));
}

void Statement::bind(int parameter, std::string_view bytes) noexcept {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* data = bytes.empty() ? "" : bytes.data();
  note(sqlite3_bind_blob64(handle_, parameter, data, bytes.size(), SQLITE_STATIC));
}

void Statement::bind(int parameter, const std::optional<std::int64_t>& value) noexcept {
  note(value ? sqlite3_bind_int64(handle_, parameter, *value)
             : sqlite3_bind_null(handle_, parameter));
}

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) return connection_->failure(bind_code_);
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->failure(code);
}

Result<void> Statement::run() {
  for (;;) {
    COVE_TRY(const bool row, step());
    if (!row) return {};
  }
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(handle_, column);
}

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  if (data == nullptr || size <= 0) return {};
  return std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::optional<std::int64_t> Statement::optional_integer(int column) const noexcept {
  if (sqlite3_column_type(handle_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

void Statement::note(int code) noexcept {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
}

}  // namespace cove::metadata::sqlite

// A connection of somebody else to a store's file.
#pragma once

#include <stdexcept>
#include <string>

#include <sqlite3.h>

namespace cove::test {

class RawSqlite {
 public:
  explicit RawSqlite(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("no " + path);
    sqlite3_busy_timeout(db_, 10'000);
  }
  ~RawSqlite() { sqlite3_close(db_); }
  RawSqlite(const RawSqlite&) = delete;
  RawSqlite& operator=(const RawSqlite&) = delete;

  /// Runs SQL; returns the first column of the last row.
  std::string run(const std::string& sql) {
    std::string value;
    const auto keep = [](void* out, int, char** columns, char**) {
      *static_cast<std::string*>(out) = columns[0] != nullptr ? columns[0] : "";
      return 0;
    };
    if (sqlite3_exec(db_, sql.c_str(), keep, &value, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(db_));
    }
    return value;
  }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace cove::test

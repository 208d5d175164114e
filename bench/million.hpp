/// A metadata file with a million records, and a bare connection to it.
#pragma once

#include <cstdint>
#include <string>

#include <sqlite3.h>

namespace bench {

/// A connection that does without Cove: what the store is measured against. Every call ends the
/// program where SQLite fails, since nothing that follows would mean anything.
class BareSqlite {
 public:
  /// WAL, as the store has it; `synchronous` NORMAL until set_full.
  explicit BareSqlite(const std::string& path);
  ~BareSqlite();
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;

  void run(const std::string& sql);
  void set_full(bool full) { run(full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"); }

  /// The page of due sandboxes by the index: 200 rows, each column read. Goes on where the page
  /// before ended; returns how many rows there were.
  int next_page(std::int64_t active_before);

  /// One transaction that replaces a record by name and version, as the statement of the store
  /// does. False: the version differs.
  bool swap(const std::string& name, std::int64_t expected, std::int64_t active_at,
            const std::string& body);

  std::int64_t version_of(const std::string& name);

 private:
  friend void fill_with_records(BareSqlite& database, std::uint32_t count);
  sqlite3_stmt* prepare(const std::string& sql);
  void check(int code) const;

  sqlite3* db_ = nullptr;
  sqlite3_stmt* page_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* version_ = nullptr;
  sqlite3_stmt* update_ = nullptr;
  sqlite3_stmt* find_ = nullptr;
  std::int64_t after_time_ = 0;
  std::string after_name_;
};

/// Fills a file that Cove made with records of another node: one in twenty runs, three are stopped,
/// the others archived; their last use lies up to a year back.
void fill_with_records(BareSqlite& database, std::uint32_t count);

/// The name of the n-th record.
std::string record_name(std::uint32_t number);

/// A moment before which half of the running ones were used.
std::int64_t due_before();

}  // namespace bench

/// One connection to the file, with its prepared statements and its transaction.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <cove/metadata_store.hpp>

#include "metadata/sqlite/statement.hpp"

namespace cove::metadata::sqlite {

/// Used by one thread at a time. Nothing here waits: where another connection is in the way the
/// call fails, and was_busy() tells it from other failures.
class Connection {
 public:
  explicit Connection(std::string path) : path_(std::move(path)) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Opens the file. With `mode_of`, a file, it is made where it is absent, with that one's mode.
  /// Once, before all else; after a failure this is of no more use.
  Result<void> connect(const std::string& mode_of = {});

  /// The file's absolute path, which holds when the host changes its directory.
  std::string file() const;

  /// The statement for `sql`, prepared the first time. One use of the same text at a time.
  Result<Statement> statement(std::string_view sql);

  /// Runs a statement that has no parameters and whose rows do not matter.
  Result<void> run(std::string_view sql);

  /// Rows changed by the last statement that changes rows.
  std::int64_t changes() const noexcept { return sqlite3_changes64(db_); }

  /// Makes the next commits last as `durability` says. REQUIRES: no open transaction.
  Result<void> set_durability(Durability durability);

  /// Begins a use: forgets the last failure.
  /// kIntegrity - the file was moved or deleted, so what is done here is seen by nobody else.
  Result<void> start();

  /// True where a failure since start() means only: try again.
  bool was_busy() const noexcept { return was_busy_; }

  /// The error for a result code of the last call.
  Error failure(int code);

  /// Takes back the open transaction, if there is one.
  void roll_back() noexcept;

 private:
  Result<void> configure();
  Result<void> enter_wal();
  Result<void> keep_room_for_index();

  std::string path_;
  sqlite3* db_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
  Durability durability_ = Durability::kDurable;
  bool was_busy_ = false;
};

/// A write transaction; without commit() it is taken back.
class Transaction {
 public:
  explicit Transaction(Connection& connection) noexcept : connection_(connection) {}
  ~Transaction() { connection_.roll_back(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Takes the file's one write lock.
  Result<void> begin() { return connection_.run("BEGIN IMMEDIATE"); }
  Result<void> commit() { return connection_.run("COMMIT"); }

 private:
  Connection& connection_;
};

}  // namespace cove::metadata::sqlite

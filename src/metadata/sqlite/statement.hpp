/// A prepared statement in use; its connection keeps it for the next time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include <cove/result.hpp>

namespace cove::metadata::sqlite {

class Connection;

/// Given out by Connection::statement, which it must not outlive. At its end it is reset, so what
/// it read or locked is let go. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(Connection& connection, sqlite3_stmt* handle) noexcept
      : connection_(&connection), handle_(handle) {}
  Statement(Statement&& other) noexcept
      : connection_(other.connection_), handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  /// Binding errors come out of the next step(). `bytes` must live as long as this.
  void bind(int parameter, std::int64_t value) noexcept;
  void bind(int parameter, std::string_view bytes) noexcept;
  void bind(int parameter, const std::optional<std::int64_t>& value) noexcept;

  /// Goes to the next row; false: there is no more.
  Result<bool> step();

  /// Steps to the end.
  Result<void> run();

  std::int64_t integer(int column) const noexcept;
  std::string bytes(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const noexcept;

 private:
  void note(int code) noexcept;

  Connection* connection_;
  sqlite3_stmt* handle_;
  int bind_code_ = SQLITE_OK;
};

}  // namespace cove::metadata::sqlite

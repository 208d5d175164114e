/// Result<T>: a value or an Error, with std::expected's names.
///
///     Result<Record> record = parse(text);
///     if (!record) return record.error();
///     use(*record);
///
/// Inside functions that return a Result, COVE_TRY does the middle line; inside coroutines,
/// COVE_CO_TRY. `value()` on an error throws BadResultAccess and is meant for examples and tests.
#pragma once

#include <cassert>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include <cove/error.hpp>

namespace cove {

/// Thrown by Result::value() on an error; its text is Error::describe().
class BadResultAccess : public std::runtime_error {
 public:
  explicit BadResultAccess(const Error& error)
      : std::runtime_error(error.describe()), error_(error) {}
  /// What the Result had instead of a value.
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // NOLINTBEGIN(google-explicit-constructor): a function returns its value, or its error, as it is
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  /// Whether it is a value, and not an error.
  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// REQUIRES: has_value().
  T& operator*() & noexcept { return assert(has_value()), *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return assert(has_value()), *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return assert(has_value()), std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return assert(has_value()), std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return assert(has_value()), std::get_if<0>(&state_); }

  /// REQUIRES: !has_value().
  const Error& error() const noexcept {
    const Error* failure = std::get_if<1>(&state_);
    assert(failure != nullptr);
    return *failure;
  }

  /// The value; BadResultAccess is thrown where it is an error.
  T& value() & {
    if (!has_value()) throw BadResultAccess(error());
    return **this;
  }
  const T& value() const& {
    if (!has_value()) throw BadResultAccess(error());
    return **this;
  }
  T value() && {
    if (!has_value()) throw BadResultAccess(error());
    return std::move(**this);
  }

  /// The value, or `fallback` where it is an error.
  T value_or(T fallback) && { return has_value() ? std::move(**this) : std::move(fallback); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a function returns its error as it is
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  /// Whether it is a value, and not an error.
  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// REQUIRES: !has_value().
  const Error& error() const noexcept {
    const Error* failure = std::get_if<1>(&state_);
    assert(failure != nullptr);
    return *failure;
  }

  /// Throws BadResultAccess where it is an error.
  void value() const {
    if (!has_value()) throw BadResultAccess(error());
  }

 private:
  std::variant<std::monostate, Error> state_;
};

/// The success of an operation that gives nothing back.
inline Result<void> ok() { return {}; }

}  // namespace cove

#define COVE_DETAIL_JOIN2(a, b) a##b
#define COVE_DETAIL_JOIN(a, b) COVE_DETAIL_JOIN2(a, b)
#define COVE_DETAIL_TRY(keyword, temporary, declaration, ...) \
  auto temporary = __VA_ARGS__;                               \
  if (!temporary) keyword temporary.error();                  \
  declaration = *std::move(temporary)
#define COVE_DETAIL_TRY_VOID(keyword, temporary, ...) \
  do {                                                \
    auto temporary = __VA_ARGS__;                     \
    if (!temporary) keyword temporary.error();        \
  } while (false)

/// Declares a variable from a Result, or returns its error: COVE_TRY(auto id, parse(text)).
/// It is more than one statement: never the body of an `if` without braces.
#define COVE_TRY(declaration, ...) \
  COVE_DETAIL_TRY(return, COVE_DETAIL_JOIN(cove_try_, __LINE__), declaration, __VA_ARGS__)
/// Returns the error of a Result<void>.
#define COVE_TRY_VOID(...) \
  COVE_DETAIL_TRY_VOID(return, COVE_DETAIL_JOIN(cove_try_, __LINE__), __VA_ARGS__)
/// The same inside a coroutine: COVE_CO_TRY(auto page, co_await store.query(query, call)).
#define COVE_CO_TRY(declaration, ...) \
  COVE_DETAIL_TRY(co_return, COVE_DETAIL_JOIN(cove_try_, __LINE__), declaration, __VA_ARGS__)
/// COVE_TRY_VOID inside a coroutine.
#define COVE_CO_TRY_VOID(...) \
  COVE_DETAIL_TRY_VOID(co_return, COVE_DETAIL_JOIN(cove_try_, __LINE__), __VA_ARGS__)

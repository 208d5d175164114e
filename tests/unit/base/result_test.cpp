#include <memory>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include <cove/result.hpp>
#include <cove/task.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"

using cove::BadResultAccess;
using cove::Error;
using cove::ErrorCode;
using cove::Result;
using cove::Task;

namespace {

Error not_found() { return Error(ErrorCode::kNotFound, "no such thing").with_context("key", "a"); }

Result<int> number(bool there) {
  if (!there) return not_found();
  return 7;
}

Result<void> done(bool well) {
  if (!well) return not_found();
  return cove::ok();
}

using Owned = std::unique_ptr<std::string>;

Result<Owned> owned(bool there) {
  if (!there) return not_found();
  return std::make_unique<std::string>("mine");
}

/// `reached` counts what is behind the first step.
Result<std::string> in_turn(bool first, bool second, int& reached) {
  COVE_TRY(const Owned text, owned(first));
  ++reached;
  COVE_TRY_VOID(done(second));
  ++reached;
  // A type with a comma in it is one declaration.
  COVE_TRY(const auto pair, Result<std::pair<int, int>>(std::pair<int, int>{1, 2}));
  return *text + std::to_string(pair.first + pair.second);
}

Task<Result<int>> later(bool there) { co_return number(there); }

Task<Result<void>> done_later(bool well) { co_return done(well); }

Task<Result<int>> in_turn_later(bool first, bool second, int& reached) {
  COVE_CO_TRY(const int one, co_await later(first));
  ++reached;
  COVE_CO_TRY_VOID(co_await done_later(second));
  ++reached;
  co_return one + 1;
}

}  // namespace

TEST_CASE("Result: a value is had by every way to it", "[unit][base]") {
  Result<std::string> result = std::string("text");
  REQUIRE(result.has_value());
  CHECK(static_cast<bool>(result));
  CHECK(*result == "text");
  CHECK(result->size() == 4);
  CHECK(result.value() == "text");
  result.value() += "s";
  *result += "!";
  CHECK(std::as_const(result).value() == "texts!");
  CHECK(*std::as_const(result) == "texts!");
  CHECK(std::as_const(result)->back() == '!');
}

TEST_CASE("Result: an error is kept whole", "[unit][base]") {
  const Result<int> result = number(false);
  REQUIRE_FALSE(result);
  CHECK_FALSE(result.has_value());
  CHECK(result.error().code() == ErrorCode::kNotFound);
  CHECK(result.error().describe() == not_found().describe());
  // Passed on as it is: functions of other values return it.
  const Result<std::string> other = result.error();
  CHECK(other.error().describe() == not_found().describe());
}

TEST_CASE("Result: a value that is asked for where an error is, throws it", "[unit][base]") {
  Result<int> failed = number(false);
  CHECK_THROWS_AS(failed.value(), BadResultAccess);
  CHECK_THROWS_AS(std::as_const(failed).value(), BadResultAccess);
  CHECK_THROWS_AS(number(false).value(), BadResultAccess);
  CHECK_THROWS_AS(done(false).value(), BadResultAccess);
  CHECK_NOTHROW(done(true).value());
  try {
    static_cast<void>(failed.value());
    FAIL("nothing was thrown");
  } catch (const BadResultAccess& thrown) {
    CHECK(thrown.error().code() == ErrorCode::kNotFound);
    CHECK(thrown.what() == not_found().describe());
  }
}

TEST_CASE("Result: value_or gives the fallback for an error only", "[unit][base]") {
  CHECK(number(true).value_or(9) == 7);
  CHECK(number(false).value_or(9) == 9);
  CHECK(*owned(true).value_or(nullptr) == "mine");
  CHECK(*owned(false).value_or(std::make_unique<std::string>("other")) == "other");
}

TEST_CASE("Result: a value that can only be moved comes out by a move", "[unit][base]") {
  CHECK(*owned(true).value() == "mine");
  Result<Owned> result = owned(true);
  const Owned taken = *std::move(result);
  CHECK(*taken == "mine");
}

TEST_CASE("Result: of void it is success or an error", "[unit][base]") {
  CHECK(Result<void>().has_value());
  CHECK(done(true));
  const Result<void> failed = done(false);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::kNotFound);
}

TEST_CASE("COVE_TRY: goes on with a value and returns the first error", "[unit][base]") {
  int reached = 0;
  CHECK(in_turn(true, true, reached).value() == "mine3");
  CHECK(reached == 2);
  reached = 0;
  CHECK(in_turn(false, true, reached).error().describe() == not_found().describe());
  CHECK(reached == 0);
  CHECK(in_turn(true, false, reached).error().code() == ErrorCode::kNotFound);
  CHECK(reached == 1);
}

TEST_CASE("COVE_CO_TRY: goes on with a value and returns the first error", "[unit][base]") {
  cove::base::IoLoop loop;
  int reached = 0;
  CHECK(cove::base::sync_wait(loop, in_turn_later(true, true, reached)).value() == 8);
  CHECK(reached == 2);
  reached = 0;
  CHECK(cove::base::sync_wait(loop, in_turn_later(false, true, reached)).error().code() ==
        ErrorCode::kNotFound);
  CHECK(reached == 0);
  CHECK_FALSE(cove::base::sync_wait(loop, in_turn_later(true, false, reached)));
  CHECK(reached == 1);
}

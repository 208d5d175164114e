/// Errors as the C ABI hands them out.
#include "error.hpp"

#include <cstring>
#include <set>

#include "support.hpp"

using namespace cove;

TEST_CASE("Error: its getters say what the Error says", "[capi][error]") {
  const Error low(ErrorCode::kProvider, "bwrap ended with status 1");
  const Error high = Error(ErrorCode::kUnavailable, "the sandbox does not start")
                         .with_context("sandbox", "app-1")
                         .with_context("path", "/x")
                         .with_retry_after(std::chrono::milliseconds(250))
                         .with_cause(low);
  const ErrorHandle error(capi::make_error(high));
  CHECK(cove_error_code(error.get()) == COVE_UNAVAILABLE);
  CHECK(std::string(cove_error_message(error.get())) == "the sandbox does not start");
  CHECK(cove_error_describe(error.get()) == high.describe());
  CHECK(cove_error_retry_after_ms(error.get()) == 250);
  REQUIRE(cove_error_context_count(error.get()) == 2);
  CHECK(std::string(cove_error_context_key(error.get(), 1)) == "path");
  CHECK(std::string(cove_error_context_value(error.get(), 1)) == "/x");
  CHECK(cove_error_context_key(error.get(), 2) == nullptr);
  CHECK(cove_error_context_value(error.get(), 2) == nullptr);
  const cove_error* const cause = cove_error_cause(error.get());
  REQUIRE(cause != nullptr);
  CHECK(cove_error_code(cause) == COVE_PROVIDER);
  CHECK(cove_error_retry_after_ms(cause) == -1);
  CHECK(cove_error_cause(cause) == nullptr);
}

TEST_CASE("Error: NULL is no error to every getter and to free", "[capi][error]") {
  CHECK(cove_error_code(nullptr) == COVE_OK);
  CHECK(std::strlen(cove_error_message(nullptr)) == 0);
  CHECK(std::strlen(cove_error_describe(nullptr)) == 0);
  CHECK(cove_error_retry_after_ms(nullptr) == -1);
  CHECK(cove_error_cause(nullptr) == nullptr);
  CHECK(cove_error_context_count(nullptr) == 0);
  CHECK(cove_error_context_key(nullptr, 0) == nullptr);
  CHECK(cove_error_context_value(nullptr, 0) == nullptr);
  cove_error_free(nullptr);
}

TEST_CASE("Error: the codes of C and C++ are the same sixteen numbers and names", "[capi][error]") {
  std::set<std::string> names;
  for (cove_status status = COVE_INVALID_ARGUMENT; status <= COVE_INTERNAL; ++status) {
    CHECK(name_of(static_cast<ErrorCode>(status)) == cove_status_name(status));
    names.insert(cove_status_name(status));
  }
  CHECK(names.size() == 16);
  CHECK(COVE_INVALID_ARGUMENT == static_cast<int>(ErrorCode::kInvalidArgument));
  CHECK(COVE_CONFLICT == static_cast<int>(ErrorCode::kConflict));
  CHECK(COVE_UNAVAILABLE == static_cast<int>(ErrorCode::kUnavailable));
  CHECK(COVE_INTEGRITY == static_cast<int>(ErrorCode::kIntegrity));
  CHECK(COVE_INTERNAL == static_cast<int>(ErrorCode::kInternal));
  CHECK(std::string(cove_status_name(COVE_OK)) == "ok");
  CHECK(std::string(cove_status_name(17)) == "unknown");
  CHECK(std::string(cove_status_name(-1)) == "unknown");
}

TEST_CASE("Error: the one for no memory is always there and may be freed as any other",
          "[capi][error]") {
  cove_error* const first = capi::out_of_memory_error();
  cove_error_free(first);
  cove_error_free(first);
  CHECK(cove_error_code(first) == COVE_UNAVAILABLE);
  CHECK(std::string(cove_error_message(first)) == "the process is out of memory");
}

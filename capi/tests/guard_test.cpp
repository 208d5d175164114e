/// No exception crosses.
#include "guard.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "support.hpp"

using namespace cove;

TEST_CASE("Guard: an Error becomes a status and an error object", "[capi][guard]") {
  cove_error* error = nullptr;
  const auto body = []() -> Result<void> { return Error(ErrorCode::kConflict, "changed"); };
  CHECK(capi::guarded(&error, body) == COVE_CONFLICT);
  const ErrorHandle owned(error);
  CHECK(std::string(cove_error_message(error)) == "changed");
  CHECK(capi::guarded(nullptr, body) == COVE_CONFLICT);
}

TEST_CASE("Guard: success clears what stood in out_error", "[capi][guard]") {
  cove_error stale{Error(ErrorCode::kInternal, "of before")};
  cove_error* error = &stale;
  CHECK(capi::guarded(&error, [] { return ok(); }) == COVE_OK);
  CHECK(error == nullptr);
}

TEST_CASE("Guard: an exception becomes internal, with its text", "[capi][guard]") {
  cove_error* error = nullptr;
  CHECK(capi::guarded(&error, []() -> Result<void> {
          throw std::runtime_error("index out of range");
        }) == COVE_INTERNAL);
  const ErrorHandle owned(error);
  CHECK(std::string(cove_error_message(error)) == "a fault in Cove: index out of range");
}

TEST_CASE("Guard: anything else that is thrown becomes internal too", "[capi][guard]") {
  cove_error* error = nullptr;
  CHECK(capi::guarded(&error, []() -> Result<void> { throw 42; }) == COVE_INTERNAL);
  const ErrorHandle owned(error);
  CHECK(std::string(cove_error_message(error)) == "a fault in Cove: an unknown exception");
}

TEST_CASE("Guard: what the machine has no more of is told as that", "[capi][guard]") {
  cove_error* error = nullptr;
  const auto body = []() -> Result<void> {
    throw std::system_error(EMFILE, std::system_category(), "make a loop");
  };
  CHECK(capi::guarded(&error, body) == COVE_QUOTA_EXCEEDED);
  const ErrorHandle owned(error);
  CHECK_THAT(cove_error_message(error), Catch::Contains("descriptors open: raise that"));
}

TEST_CASE("Guard: no memory is unavailable, without needing memory", "[capi][guard]") {
  cove_error* error = nullptr;
  CHECK(capi::guarded(&error, []() -> Result<void> { throw std::bad_alloc(); }) ==
        COVE_UNAVAILABLE);
  CHECK(error == capi::out_of_memory_error());
}

TEST_CASE("Guard: exceptions of the facade end at the C functions", "[capi][guard]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().throws = true;
  cove_buffer* buffer = nullptr;
  CHECK(cove_workspace_read_file(workspace.get(), "x", nullptr, &buffer, nullptr) == COVE_INTERNAL);
  CHECK(buffer == nullptr);
  CHECK(cove_doctor_json(cove.get(), nullptr, &buffer, nullptr) == COVE_INTERNAL);
  fake::world().throws = false;
  fake::world().out_of_memory = true;
  CHECK(cove_sweep_json(cove.get(), nullptr, &buffer, nullptr) == COVE_UNAVAILABLE);
  fake::world().out_of_memory = false;
}

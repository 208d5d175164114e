#include "base/values/caught.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <catch2/catch.hpp>

using namespace cove;

namespace {

template <class T>
Error caught(const T& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return base::caught_error();
  }
}

}  // namespace

TEST_CASE("caught_error: what an exception says, and that there was one", "[unit][base]") {
  CHECK(caught(std::runtime_error("no disk")).code() == ErrorCode::kInternal);
  CHECK(caught(std::runtime_error("no disk")).message() == "unexpected: no disk");
  CHECK(caught(42).message() == "unexpected: an exception that is no std::exception");
}

TEST_CASE("caught_error: what the machine has no more of is told as that", "[unit][base]") {
  const auto of = [](int number) {
    return caught(std::system_error(number, std::system_category(), "make a thread"));
  };
  CHECK(of(EMFILE).code() == ErrorCode::kQuotaExceeded);
  CHECK_THAT(of(EMFILE).message(), Catch::StartsWith("unexpected: make a thread: ") &&
                                       Catch::Contains("descriptors open: raise that"));
  CHECK(of(ENFILE).code() == ErrorCode::kQuotaExceeded);
  CHECK_THAT(of(ENFILE).message(), Catch::EndsWith("raise fs.file-max"));
  CHECK(of(EAGAIN).code() == ErrorCode::kUnavailable);
  CHECK(of(ENOENT).code() == ErrorCode::kInternal);  // a fault of ours, not the caller's path
}

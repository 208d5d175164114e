#include "base/values/caught.hpp"

#include <stdexcept>

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

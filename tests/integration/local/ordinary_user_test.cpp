// Root runs this program's cases tagged [any-user] once more as an ordinary user.
#include <catch2/catch.hpp>

#include "support/fixtures/local_fixture.hpp"
#include "support/skip.hpp"

TEST_CASE("Local provider: everything holds for an ordinary user too", "[integration][local]") {
  const auto run = cove::test::run_as_ordinary_user();
  if (!run.skipped.empty()) return cove::test::skip(run.skipped);
  INFO(run.output);
  CHECK(run.passed);
}

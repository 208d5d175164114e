#include <catch2/catch.hpp>

#include "support/agent_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

TEST_CASE("Agent: a program that does nothing ends with 0", "[integration][agent]") {
  AgentFixture f;
  const auto result = f.run({.argv = {"true"}});
  REQUIRE(result);
  CHECK(result->succeeded());
  CHECK(result->out.total_bytes == 0);
}

TEST_CASE("Agent: the exit code comes back", "[integration][agent]") {
  AgentFixture f;
  CHECK(std::get<Exited>(f.shell("exit 7").value().outcome).code == 7);
}

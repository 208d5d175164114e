#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "support/lifecycle_table.hpp"

TEST_CASE("docs/lifecycle.md: shows the table that the code has", "[unit][lifecycle][docs]") {
  std::ifstream file(std::string(COVE_SOURCE_DIR) + "/docs/lifecycle.md");
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  const std::string table = cove::testing::lifecycle_table();
  INFO("put this between the markers:\n" << table);
  CHECK(text.str().find("<!-- table -->\n" + table + "<!-- end -->") != std::string::npos);
}

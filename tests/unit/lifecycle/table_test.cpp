#include <catch2/catch.hpp>

#include "support/fixtures/project_files.hpp"
#include "support/lifecycle_table.hpp"

TEST_CASE("docs/lifecycle.md: shows the table that the code has", "[unit][lifecycle][docs]") {
  const std::string text = cove::testing::project_file("docs/lifecycle.md");
  const std::string table = cove::testing::lifecycle_table();
  INFO("put this between the markers:\n" << table);
  CHECK(text.find("<!-- table -->\n" + table + "<!-- end -->") != std::string::npos);
}

TEST_CASE("docs/lifecycle.md: shows what may begin, as the code has it",
          "[unit][lifecycle][docs]") {
  const std::string text = cove::testing::project_file("docs/lifecycle.md");
  const std::string table = cove::testing::lifecycle_starts();
  INFO("put this between the markers:\n" << table);
  CHECK(text.find("<!-- starts -->\n" + table + "<!-- end -->") != std::string::npos);
}

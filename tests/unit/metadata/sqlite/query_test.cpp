#include "metadata/sqlite/query.hpp"

#include <catch2/catch.hpp>

#include "base/system/system_clock.hpp"
#include "metadata/sqlite/schema.hpp"
#include "metadata/sqlite/store_clock.hpp"
#include "metadata/sqlite/waiting_line.hpp"
#include "support/fixtures/metadata_stores.hpp"

using namespace cove;
using namespace cove::metadata::sqlite;
using cove::test::StoreDirectory;

namespace {

/// How SQLite would do it, in its own words.
std::string plan_of(const std::string& sql) {
  const StoreDirectory directory;
  const WaitingLine line = WaitingLine::open(directory.file("mode")).value();
  Connection connection(directory.file("metadata.db"));
  connection.connect(directory.file("mode")).value();
  StoreClock clock([] { return read_clocks(base::SystemClock()); });
  prepare_schema(connection, clock).value();
  auto rows = connection.statement("EXPLAIN QUERY PLAN " + sql).value();
  std::string plan;
  while (rows.step().value()) plan += rows.bytes(3) + "\n";
  return plan;
}

void check_index(const DocumentQuery& query, const std::string& index) {
  for (const bool from_start : {true, false}) {
    const std::string plan = plan_of(page_sql(query, from_start));
    INFO(plan);
    CHECK(plan.find("USING INDEX " + index) != std::string::npos);
    CHECK(plan.find("TEMP B-TREE") == std::string::npos);
  }
}

}  // namespace

TEST_CASE("count_sql: an index alone is read, and nothing sorted", "[unit][metadata]") {
  const std::string plan = plan_of(std::string(count_sql()));
  INFO(plan);
  CHECK(plan.find("USING COVERING INDEX documents_by_state") != std::string::npos);
  CHECK(plan.find("TEMP B-TREE") == std::string::npos);
}

TEST_CASE("page_sql: what the sweeper asks for is read in an index's order, without sorting",
          "[unit][metadata]") {
  const auto time = StoreTime(std::chrono::milliseconds(1));
  check_index({.order = QueryOrder::kByActivity, .state = "running"}, "documents_by_state");
  check_index({.order = QueryOrder::kByActivity, .state = "running", .active_before = time},
              "documents_by_state");
  check_index({.order = QueryOrder::kByHeartbeat}, "documents_by_heartbeat");
  check_index({.order = QueryOrder::kByHeartbeat, .heartbeat_before = time},
              "documents_by_heartbeat");
  check_index({.source = "app/1"}, "documents_by_source");
  check_index({.node = "n1"}, "documents_by_node");
  check_index({}, "sqlite_autoindex_documents_1");
}

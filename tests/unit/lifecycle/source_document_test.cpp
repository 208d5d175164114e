#include "lifecycle/records/source_document.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::lifecycle;
using namespace std::chrono_literals;

TEST_CASE("Source document: comes back as it was written", "[unit][lifecycle]") {
  SourceDocument document{.source = "app/demo", .deleted_at = StoreTime(5s), .idle = {}};
  document.idle = {.stop_after = 5min, .archive_after = {}, .archive = ArchiveRule::kNever};
  const auto read = parse_source(to_json(document)).value();
  CHECK(read.source == "app/demo");
  CHECK(read.is_deleted());
  CHECK(read.idle == document.idle);
  CHECK(index_of(read).state == "idle_policy");
  CHECK(index_of(read).source == "app/demo");
}

TEST_CASE("Source document: one of version 1 has no idle policy", "[unit][lifecycle]") {
  const auto read = parse_source(R"({"version":1,"source":"app/demo","deleted_at":0})").value();
  CHECK_FALSE(read.is_deleted());
  CHECK(read.idle == IdlePolicy{});
  CHECK(index_of(read).state.empty());
}

TEST_CASE("Source document: another one is refused", "[unit][lifecycle]") {
  for (const char* text : {"x", R"({"version":3,"source":"app/demo","deleted_at":0})",
                           R"({"version":2,"source":"app/demo","deleted_at":0})",
                           R"({"version":2,"source":"a","deleted_at":0,
               "idle":{"stop_after_ms":null,"archive_after_ms":null,"archive":"maybe"}})"}) {
    CHECK(parse_source(text).error().code() == ErrorCode::kIntegrity);
  }
}

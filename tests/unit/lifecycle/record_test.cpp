#include <catch2/catch.hpp>

#include <cove/record.hpp>

#include "lifecycle/records/tombstone.hpp"
#include "lifecycle/rules/transitions.hpp"
#include "support/fixtures/project_files.hpp"

using namespace cove;
using namespace std::chrono_literals;

namespace {

SnapshotRef snapshot(const std::string& name) {
  SnapshotRef made;
  made.objects.push_back({ObjectKey(name), 1ULL << 40, std::string(64, 'a')});
  made.entries = 3;
  made.content_bytes = 12;
  return made;
}

Record full_record() {
  Record record;
  record.sandbox_id = SandboxId("app-1");
  record.key = {"app", "数据", "a\"b\n"};
  record.state = SandboxState::kStopped;
  record.provider = "local";
  record.node = NodeId("m1");
  record.incarnation = Incarnation("i1");
  record.generation = Generation("g1");
  record.epoch = Epoch(18'000'000'000'000'000'000ULL);
  record.snapshot = snapshot("old");
  record.created_at = StoreTime(1s);
  record.last_active_at = StoreTime(2s);
  record.activity.push_back({OwnerId("m1/p"), StoreTime(3s)});
  record.garbage.push_back(GarbageVolume{NodeId("m0"), Generation("g0"), Epoch(2), "local"});
  record.garbage.push_back(GarbageSnapshot{snapshot("older")});
  record.garbage.push_back(GarbageAttempt{OperationId("a0")});
  Operation operation;
  operation.id = OperationId("o1");
  operation.kind = OperationKind::kArchive;
  operation.phase = Phase::kArchiveUploaded;
  operation.owner = OwnerId("m1/p");
  operation.attempt = 2;
  operation.started_at = StoreTime(4s);
  operation.heartbeat_at = StoreTime(5s);
  operation.snapshot = snapshot("new");
  operation.error = "no room";
  record.operation = operation;
  record.failures = 1;
  record.failed_at = StoreTime(6s);
  record.needs_attention = "look";
  return record;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("Record: comes back from its JSON as it was", "[unit][lifecycle]") {
  const Record record = full_record();
  const Record back = parse_record(to_json(record)).value();
  CHECK(to_json(back) == to_json(record));
  CHECK(back.key == record.key);
  CHECK(back.garbage == record.garbage);
  CHECK(back.epoch == record.epoch);
  CHECK(back.operation->snapshot == record.operation->snapshot);
  CHECK(back.operation->heartbeat_at == StoreTime(5s));
  CHECK(back.failed_at == StoreTime(6s));
}

TEST_CASE("Record: one of version 1 is read, and has no time to drain", "[unit][lifecycle]") {
  std::string old = replaced(to_json(full_record()), "\"version\":2", "\"version\":1");
  old = replaced(old, "\"drain_until\":0,", "");
  const Record back = parse_record(old).value();
  CHECK(to_json(back) == to_json(full_record()));
}

TEST_CASE("Record: only one that moves, or has garbage elsewhere, is of version 3",
          "[unit][lifecycle][relocate]") {
  Record record = full_record();
  CHECK_THAT(to_json(record), Catch::Contains("\"version\":2") && !Catch::Contains("\"to\""));
  SECTION("garbage") {
    record.garbage.push_back(GarbageVolume{NodeId("m9"), Generation("g9"), Epoch(1), "tree"});
  }
  SECTION("a relocate") {
    record.operation->kind = OperationKind::kRelocate;
    record.operation->generation = Generation("g9");
    record.operation->to = Location{"tree", NodeId("m9")};
  }
  const std::string text = to_json(record);
  CHECK_THAT(text, Catch::Contains("\"version\":3"));
  const Record back = parse_record(text).value();
  CHECK(to_json(back) == text);
  CHECK(back.garbage == record.garbage);
  CHECK(back.operation->to == record.operation->to);
}

TEST_CASE("Record: a relocate says where it goes while its old volume is there, and only then",
          "[unit][lifecycle][relocate]") {
  Record record = full_record();
  record.operation->kind = OperationKind::kRelocate;
  CHECK_FALSE(parse_record(to_json(record)));
  record.operation->to = Location{"tree", NodeId("m9")};
  CHECK(parse_record(to_json(record)));
  record.operation->snapshot.reset();
  CHECK_FALSE(parse_record(to_json(record)));
  record.operation->phase = Phase::kVolumeCreated;
  record.operation->to.reset();
  CHECK_FALSE(parse_record(to_json(record)));
  record.state = SandboxState::kArchived;
  record.generation = Generation();
  CHECK(parse_record(to_json(record)));
}

TEST_CASE("Record: what is not a record of version 1, 2 or 3 is kIntegrity", "[unit][lifecycle]") {
  const std::string good = to_json(full_record());
  const std::string bad[] = {
      "",
      "{",
      "[]",
      "null",
      "{\"version\":1}",
      replaced(good, "\"version\":2", "\"version\":0"),
      replaced(good, "\"version\":2", "\"version\":3"),
      replaced(good, "\"version\":2", "\"version\":4"),
      replaced(good, "\"version\":2", "\"version\":1"),
      replaced(good, "\"version\":2", "\"version\":2,\"later\":0"),
      replaced(good, "\"state\":\"stopped\"", "\"state\":\"asleep\""),
      replaced(good, "\"state\":\"stopped\"", "\"state\":\"running\""),
      replaced(good, "\"attempt\":2", "\"attempt\":-2"),
      replaced(good, "\"attempt\":2", "\"attempt\":4294967296"),
      replaced(good, "\"generation\":\"g1\"", "\"generation\":\"\""),
      replaced(good, "\"phase\":\"archive_uploaded\"", "\"phase\":\"claimed\""),
      replaced(good, "\"phase\":\"archive_uploaded\"", "\"phase\":\"drained\""),
      replaced(good, "\"kind\":\"attempt\"", "\"kind\":\"thing\""),
      replaced(good, "\"created_at\":1000", "\"created_at\":\"1000\""),
      std::string(100'000, '['),
  };
  for (const std::string& text : bad) {
    INFO(text.substr(0, 200));
    const auto parsed = parse_record(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == ErrorCode::kIntegrity);
  }
}

TEST_CASE("Record: the example of docs/formats.md is one", "[unit][lifecycle][docs]") {
  const std::string all = cove::testing::project_file("docs/formats.md");
  const auto section = all.find("## Record");
  REQUIRE(section != std::string::npos);
  const auto begin = all.find("```json\n", section) + 8;
  const auto end = all.find("```", begin);
  const Record record = parse_record(all.substr(begin, end - begin)).value();
  CHECK(record.sandbox_id == SandboxId("app-52b3bfdf3477b4e1a1bf8608dc581e36"));
}

TEST_CASE("Tombstone: comes back from its JSON, one grave for each life", "[unit][lifecycle]") {
  using namespace cove::lifecycle;
  Tombstone tombstone{SandboxId("app-1"), {}};
  const Record record = full_record();
  tombstone = bury(tombstone, grave_of(record, StoreTime(10s)));
  tombstone = bury(tombstone, grave_of(record, StoreTime(11s)));
  REQUIRE(tombstone.graves.size() == 1);
  const Tombstone back = parse_tombstone(to_json(tombstone)).value();
  CHECK(to_json(back) == to_json(tombstone));
  CHECK(back.graves[0].volumes ==
        std::vector<GarbageVolume>{{NodeId("m1"), Generation("g1"), record.epoch, "local"},
                                   {NodeId("m0"), Generation("g0"), Epoch(2), "local"}});
  CHECK_FALSE(is_due(back, 0, StoreTime(20s), 10s));
  CHECK(is_due(back, 0, StoreTime(21s), 10s));
  CHECK(parse_tombstone("{}").error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Tombstone: one of version 1 is read, and names no provider", "[unit][lifecycle]") {
  using namespace cove::lifecycle;
  const std::string old =
      R"({"version":1,"sandbox_id":"app-1","graves":[{"incarnation":"i1","destroyed_at":1000,)"
      R"("key":{"source_type":"app","source_id":"demo","user_id":"ana"},)"
      R"("volumes":[{"node":"m1","generation":"g1","epoch":3}]}]})";
  const Tombstone back = parse_tombstone(old).value();
  REQUIRE(back.graves.size() == 1);
  CHECK(back.graves[0].volumes ==
        std::vector<GarbageVolume>{{NodeId("m1"), Generation("g1"), Epoch(3), ""}});
}

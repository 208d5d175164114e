#include "lifecycle/requests/due_records.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "metadata/memory/memory_store.hpp"
#include "support/fakes/stepped_scheduler.hpp"

using namespace cove;
using namespace cove::lifecycle;
using namespace std::chrono_literals;

namespace {

struct Table {
  test::SteppedScheduler scheduler;
  std::shared_ptr<MetadataStore> store = metadata::make_memory_store(scheduler);
  RecordStore records{*store, scheduler, scheduler};
  int count = 0;

  /// Each younger than those before.
  void add(const std::string& source) {
    Document document;
    document.body = "{}";
    document.index.source = source;
    document.index.active_at = StoreTime(std::chrono::seconds(++count));
    const DocumentId id{DocumentKind::kSandbox, "s" + std::to_string(count)};
    const CallContext call;
    REQUIRE(scheduler.run(store->insert(id, document, Durability::kRelaxed, call)));
  }
  DueRecords due(DueRecords::Bounds bounds, DueRecords::LeavesOut leaves_out = {}) {
    DocumentQuery query;
    query.order = QueryOrder::kByActivity;
    return DueRecords(records, query, std::move(leaves_out), bounds);
  }
  std::vector<SandboxId> next(DueRecords& due) {
    const CallContext call;
    return scheduler.run(due.next(call)).value();
  }
};

const DueRecords::Bounds kSmall{.share = 3, .batch = 8, .page = 5, .pages = 3};

}  // namespace

TEST_CASE("Due records: sources take turns, the oldest of each first", "[unit][lifecycle]") {
  Table table;
  for (const char* source : {"a", "a", "b", "a", "c"}) table.add(source);
  auto due = table.due(kSmall);
  const auto batch = table.next(due);
  CHECK(batch == std::vector<SandboxId>{SandboxId("s1"), SandboxId("s3"), SandboxId("s5"),
                                        SandboxId("s2"), SandboxId("s4")});
  CHECK(table.next(due).empty());
}

TEST_CASE("Due records: a large source leaves room in every batch, and all come once",
          "[unit][lifecycle]") {
  Table table;
  for (int i = 0; i < 10; ++i) table.add("large");
  table.add("late");
  for (int i = 0; i < 40; ++i) table.add("large");
  auto due = table.due(kSmall);
  std::vector<SandboxId> all = table.next(due);
  CHECK(std::find(all.begin(), all.end(), SandboxId("s11")) != all.end());
  for (auto batch = table.next(due); !batch.empty(); batch = table.next(due)) {
    CHECK(batch.size() <= 8);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  CHECK(all.size() == 51);
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("Due records: a source that is left out hides nothing behind it", "[unit][lifecycle]") {
  Table table;
  for (int i = 0; i < 60; ++i) table.add("kept");
  table.add("other");
  auto due = table.due(kSmall, [](const std::string& source) { return source == "kept"; });
  CHECK(table.next(due) == std::vector<SandboxId>{SandboxId("s61")});
  CHECK(table.next(due).empty());
}

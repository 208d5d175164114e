// What every metadata store promises of queries and their pages (cove/metadata_store.hpp).
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "contract/c_stores/stores_in_c.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::test::BlockingStore;
using cove::test::sandbox;
using cove::test::text;
using Names = std::vector<std::string>;

namespace {

std::optional<StoreTime> at(std::int64_t ms) { return StoreTime(std::chrono::milliseconds(ms)); }

struct Row {
  std::string name;
  DocumentIndex index;
};

/// Times with ties, documents without each of the values, and another kind that never shows.
std::vector<Row> rows() {
  return {
      {"a", {"running", "app/1", "n1", at(300), {}}},
      {"b", {"running", "app/1", "n2", at(100), at(20)}},
      {"c", {"stopped", "app/2", "n1", at(100), at(10)}},
      {"d", {"stopped", "app/1", "", at(100), {}}},
      {"e", {"archived", "app/2", "n2", at(-50), at(20)}},
      {"f", {"", "", "", {}, at(20)}},
      {"g", {"running", "skill/1", "n1", {}, {}}},
      {"h", {}},
  };
}

void fill(BlockingStore& store) {
  // Not in any order that a query asks for.
  auto all = rows();
  std::rotate(all.begin(), all.begin() + 3, all.end());
  for (const auto& row : all) REQUIRE(store.insert(sandbox(row.name), {row.name, row.index}));
  const DocumentIndex other{"running", "app/1", "n1", at(100), at(10)};
  REQUIRE(store.insert({DocumentKind::kLease, "a"}, {"lease", other}));
  REQUIRE(store.insert({DocumentKind::kDeployment, "z"}, {"deployment", other}));
}

Names names_of(const DocumentPage& page) {
  Names names;
  for (const auto& document : page.documents) {
    CHECK(document.document.body == document.id.name);
    names.push_back(document.id.name);
  }
  return names;
}

Names all_pages(BlockingStore& store, DocumentQuery query) {
  Names names;
  for (;;) {
    const DocumentPage page = store.query(query).value();
    REQUIRE(page.documents.size() <= query.limit);
    for (auto& name : names_of(page)) names.push_back(name);
    if (page.next.empty()) return names;
    REQUIRE_FALSE(page.documents.empty());
    query.after = page.next;
  }
}

struct Case {
  DocumentQuery query;
  Names expected;
};

std::vector<Case> cases() {
  using Order = QueryOrder;
  return {
      {{}, {"a", "b", "c", "d", "e", "f", "g", "h"}},
      {{.order = Order::kByActivity}, {"e", "b", "c", "d", "a"}},
      {{.order = Order::kByHeartbeat}, {"c", "b", "e", "f"}},
      {{.state = "running"}, {"a", "b", "g"}},
      {{.source = "app/1"}, {"a", "b", "d"}},
      {{.node = "n1"}, {"a", "c", "g"}},
      {{.active_before = at(100)}, {"e"}},
      {{.active_before = at(101)}, {"b", "c", "d", "e"}},
      {{.heartbeat_before = at(20)}, {"c"}},
      {{.heartbeat_before = at(21)}, {"b", "c", "e", "f"}},
      {{.order = Order::kByActivity, .state = "running"}, {"b", "a"}},
      {{.order = Order::kByActivity, .state = "stopped", .active_before = at(101)}, {"c", "d"}},
      {{.order = Order::kByHeartbeat, .heartbeat_before = at(20)}, {"c"}},
      {{.order = Order::kByHeartbeat, .active_before = at(101)}, {"c", "b", "e"}},
      {{.order = Order::kByActivity, .source = "app/1", .node = "n2"}, {"b"}},
      {{.state = "running", .source = "app/1", .node = "n1"}, {"a"}},
      {{.state = "running", .active_before = at(50)}, {}},
      {{.state = "Running"}, {}},
      {{.state = "nothing"}, {}},
  };
}

}  // namespace

TEMPLATE_TEST_CASE("MetadataStore: every filter and order gives exactly what it says",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  for (const auto& [query, expected] : cases()) CHECK(all_pages(store, query) == expected);
}

TEMPLATE_TEST_CASE("MetadataStore: pages of any size give each document once and in order",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  for (auto [query, expected] : cases()) {
    for (query.limit = 1; query.limit <= 4; ++query.limit) {
      CHECK(all_pages(store, query) == expected);
    }
  }
}

TEMPLATE_TEST_CASE("MetadataStore: a page that holds the last document says that it is the last",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  CHECK(store.query({.limit = 8}).value().next.empty());
  CHECK_FALSE(store.query({.limit = 7}).value().next.empty());
  CHECK(store.query({.state = "nothing", .limit = 1}).value().next.empty());
}

TEMPLATE_TEST_CASE("MetadataStore: an empty text as filter matches nothing, not all",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  CHECK(all_pages(store, {.state = ""}).empty());
  CHECK(all_pages(store, {.source = ""}).empty());
  CHECK(all_pages(store, {.node = ""}).empty());
}

TEMPLATE_TEST_CASE("MetadataStore: a query sees swaps and removals at once", "[contract][metadata]",
                   EVERY_METADATA_STORE) {
  TestType store;
  const Version first =
      store.insert(sandbox("a"), {"a", {"running", "app/1", "n1", at(1), at(1)}}).value();
  const Version second =
      store.swap(sandbox("a"), first, {"a", {"stopped", "", "n2", at(9), {}}}).value();
  CHECK(all_pages(store, {.state = "running"}).empty());
  CHECK(all_pages(store, {.source = "app/1"}).empty());
  CHECK(all_pages(store, {.node = "n1"}).empty());
  CHECK(all_pages(store, {.order = QueryOrder::kByHeartbeat}).empty());
  CHECK(all_pages(store, {.active_before = at(9)}).empty());
  CHECK(all_pages(store, {.order = QueryOrder::kByActivity, .state = "stopped", .node = "n2"}) ==
        Names{"a"});
  REQUIRE(store.remove(sandbox("a"), second));
  CHECK(all_pages(store, {}).empty());
}

TEMPLATE_TEST_CASE("MetadataStore: what is not changed between two pages appears exactly once",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  DocumentQuery query{.order = QueryOrder::kByActivity, .limit = 2};
  const DocumentPage first = store.query(query).value();
  REQUIRE(names_of(first) == Names{"e", "b"});
  // The one that the page ended at goes, one before it comes, and one after it moves away.
  REQUIRE(store.remove(sandbox("b"), first.documents[1].version));
  REQUIRE(store.insert(sandbox("aa"), {"aa", {"running", "", "", at(-60), {}}}));
  const auto moved = store.find(sandbox("d")).value();
  REQUIRE(store.swap(sandbox("d"), moved->version, {"d", {"stopped", "", "", at(900), {}}}));
  query.after = first.next;
  query.limit = 10;
  CHECK(all_pages(store, query) == Names{"c", "a", "d"});
}

TEMPLATE_TEST_CASE("MetadataStore: counts by state say what the queries would find",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  CHECK(store.count_by_state(DocumentKind::kSandbox).value().empty());
  fill(store);
  const StateCounts expected{{"archived", 1}, {"running", 3}, {"stopped", 2}};
  CHECK(store.count_by_state(DocumentKind::kSandbox).value() == expected);
  CHECK(store.count_by_reading(DocumentKind::kSandbox).value() == expected);
  CHECK(store.count_by_state(DocumentKind::kLease).value() == StateCounts{{"running", 1}});
  const auto moved = store.find(sandbox("e")).value();
  REQUIRE(store.swap(sandbox("e"), moved->version, {"e", {"running", "", "", at(1), {}}}));
  REQUIRE(store.remove(sandbox("c"), store.find(sandbox("c")).value()->version));
  CHECK(store.count_by_state(DocumentKind::kSandbox).value() ==
        StateCounts{{"running", 4}, {"stopped", 1}});
}

TEMPLATE_TEST_CASE("MetadataStore: a limit of 1 to 1000 is taken and any other refused",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  CHECK(store.query({.limit = 0}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(store.query({.limit = 1001}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(store.query({.limit = 0xFFFFFFFF}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(store.query({.limit = 1}));
  CHECK(store.query({.limit = 1000}));
}

TEMPLATE_TEST_CASE("MetadataStore: an 'after' that is no page's 'next' is refused",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  const std::string next = store.query({.limit = 2}).value().next;
  REQUIRE(next.size() > 8);
  std::string changed = next;
  changed.back() = changed.back() == '0' ? '1' : '0';
  std::string changed_digest = next;
  changed_digest.front() = changed_digest.front() == '0' ? '1' : '0';
  for (const auto& after : {std::string("x"), std::string("b"), std::string("\0", 1),
                            std::string(4000, 'a'), next + "00", next + "0", changed,
                            changed_digest, next.substr(0, next.size() - 2), next.substr(2)}) {
    const auto page = store.query({.limit = 2, .after = after});
    REQUIRE_FALSE(page);
    CHECK(page.error().code() == ErrorCode::kInvalidArgument);
  }
  CHECK(names_of(store.query({.limit = 2, .after = next}).value()) == Names{"c", "d"});
}

TEMPLATE_TEST_CASE("MetadataStore: an 'after' of another order or kind is refused",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  fill(store);
  const std::string next = store.query({.limit = 2}).value().next;
  CHECK(store.query({.order = QueryOrder::kByActivity, .after = next}).error().code() ==
        ErrorCode::kInvalidArgument);
  CHECK(store.query({.kind = DocumentKind::kLease, .after = next}).error().code() ==
        ErrorCode::kInvalidArgument);
}

TEMPLATE_TEST_CASE("MetadataStore: a page of large documents ends early and goes on",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const std::string large(1 << 20, 'x');
  for (int i = 10; i < 30; ++i) REQUIRE(store.insert(sandbox(std::to_string(i)), text(large)));
  const DocumentPage first = store.query({.limit = 1000}).value();
  CHECK(first.documents.size() == 16);
  REQUIRE_FALSE(first.next.empty());
  const DocumentPage second = store.query({.limit = 1000, .after = first.next}).value();
  CHECK(second.documents.size() == 4);
  CHECK(second.documents.front().id.name == "26");
  CHECK(second.next.empty());
}

// What every metadata store promises of single documents (cove/metadata_store.hpp).
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "contract/c_stores/stores_in_c.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::test::number_of;
using cove::test::sandbox;
using cove::test::text;

namespace {

Document full_document() {
  Document document;
  document.body = std::string("{\"a\": 1}\n\0\xFF", 11);
  document.index.state = "running";
  document.index.source = "app/\xE6\x95\xB0'\"%";
  document.index.node = "node-1";
  document.index.active_at = StoreTime(1'700'000'000'123ms);
  document.index.heartbeat_at = StoreTime(-5ms);
  return document;
}

}  // namespace

TEMPLATE_TEST_CASE("MetadataStore: an inserted document is found as it was given",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const Document document = full_document();
  const auto version = store.insert(sandbox("a"), document);
  REQUIRE(version);
  const auto found = store.find(sandbox("a")).value();
  REQUIRE(found);
  CHECK(found->id == sandbox("a"));
  CHECK(found->version == *version);
  CHECK(found->document.body == document.body);
  CHECK(found->document.index == document.index);
}

TEMPLATE_TEST_CASE("MetadataStore: what is absent is found to be absent, without an error",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  REQUIRE(store.insert(sandbox("a"), text("1")));
  CHECK_FALSE(store.find(sandbox("b")).value());
  CHECK_FALSE(store.find(DocumentId{DocumentKind::kLease, "a"}).value());
}

TEMPLATE_TEST_CASE("MetadataStore: a second insert is refused and changes nothing",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const Version first = store.insert(sandbox("a"), text("one")).value();
  const auto second = store.insert(sandbox("a"), text("two"), Durability::kDurable);
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == ErrorCode::kAlreadyExists);
  const auto found = store.find(sandbox("a")).value();
  CHECK(found->document.body == "one");
  CHECK(found->version == first);
}

TEMPLATE_TEST_CASE("MetadataStore: one name may stand in several kinds", "[contract][metadata]",
                   EVERY_METADATA_STORE) {
  TestType store;
  const DocumentId lease{DocumentKind::kLease, "a"};
  REQUIRE(store.insert(sandbox("a"), text("sandbox")));
  const Version version = store.insert(lease, text("lease")).value();
  REQUIRE(store.remove(lease, version));
  CHECK(store.find(sandbox("a")).value()->document.body == "sandbox");
}

TEMPLATE_TEST_CASE("MetadataStore: a swap replaces the whole document and its version grows",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const Durability durability = GENERATE(Durability::kRelaxed, Durability::kDurable);
  const Version first = store.insert(sandbox("a"), full_document(), durability).value();
  Document next = full_document();
  next.body = "next";
  next.index.active_at = StoreTime(7ms);  // the rest of the index stays
  const Version second = store.swap(sandbox("a"), first, next, durability).value();
  CHECK(number_of(second) > number_of(first));
  CHECK(store.find(sandbox("a")).value()->document.index == next.index);
  const Version third = store.swap(sandbox("a"), second, text("bare"), durability).value();
  CHECK(number_of(third) > number_of(second));
  const auto found = store.find(sandbox("a")).value();
  CHECK(found->version == third);
  CHECK(found->document.body == "bare");
  CHECK(found->document.index == DocumentIndex{});
}

TEMPLATE_TEST_CASE("MetadataStore: a swap from another version is a conflict and changes nothing",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const Version first = store.insert(sandbox("a"), text("1")).value();
  const Version second = store.swap(sandbox("a"), first, text("2")).value();
  const auto stale = store.swap(sandbox("a"), first, text("stale"));
  REQUIRE_FALSE(stale);
  CHECK(stale.error().code() == ErrorCode::kConflict);
  const auto early = store.swap(sandbox("a"), Version{number_of(second) + 1}, text("early"));
  CHECK(early.error().code() == ErrorCode::kConflict);
  const auto found = store.find(sandbox("a")).value();
  CHECK(found->document.body == "2");
  CHECK(found->version == second);
}

TEMPLATE_TEST_CASE("MetadataStore: a swap or removal of what is gone is a conflict",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  CHECK(store.swap(sandbox("a"), Version{1}, text("x")).error().code() == ErrorCode::kConflict);
  CHECK(store.remove(sandbox("a"), Version{1}).error().code() == ErrorCode::kConflict);
  CHECK_FALSE(store.find(sandbox("a")).value());
}

TEMPLATE_TEST_CASE("MetadataStore: only the version that was read is removed",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const Version first = store.insert(sandbox("a"), text("1")).value();
  const Version second = store.swap(sandbox("a"), first, text("2")).value();
  CHECK(store.remove(sandbox("a"), first).error().code() == ErrorCode::kConflict);
  CHECK(store.find(sandbox("a")).value()->document.body == "2");
  REQUIRE(store.remove(sandbox("a"), second));
  CHECK_FALSE(store.find(sandbox("a")).value());
}

TEMPLATE_TEST_CASE("MetadataStore: a version is not used again after a removal",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 5; ++round) {
    const Version inserted = store.insert(sandbox("a"), text("same")).value();
    const Version swapped = store.swap(sandbox("a"), inserted, text("same")).value();
    CHECK(seen.insert(number_of(inserted)).second);
    CHECK(seen.insert(number_of(swapped)).second);
    REQUIRE(store.remove(sandbox("a"), swapped));
  }
}

TEMPLATE_TEST_CASE("MetadataStore: of many threads that swap one version exactly one wins",
                   "[contract][metadata][threads]", EVERY_METADATA_STORE) {
  TestType store;
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  Version version = store.insert(sandbox("a"), text("0")).value();
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> winners{0};
    std::atomic<int> conflicts{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const auto swapped = store.swap(sandbox("a"), version, text(std::to_string(i)));
        if (swapped) {
          ++winners;
        } else if (swapped.error().code() == ErrorCode::kConflict) {
          ++conflicts;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    REQUIRE(winners == 1);
    REQUIRE(conflicts == kThreads - 1);
    version = store.find(sandbox("a")).value()->version;
  }
}

TEMPLATE_TEST_CASE("MetadataStore: of many threads that insert one name exactly one wins",
                   "[contract][metadata][threads]", EVERY_METADATA_STORE) {
  TestType store;
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      if (store.insert(sandbox("a"), text(std::to_string(i)))) ++winners;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(winners == 1);
}

TEMPLATE_TEST_CASE("MetadataStore: names are any bytes but NUL and differ by each byte",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const std::vector<std::string> names = {
      "a",
      "A",
      "a ",
      " a",
      "a\n",
      "\xFF\xFE",
      "\x80",
      "%",
      "'; DROP--",
      "\xC3\xA4",
      "a\xCC\x88",
      "数据",
      "\x01",
      "..",
      "/",
      "a\\",
      "0",
      std::string(512, 'x'),
      "\x7F",
      "_",
      "?1",
      "\xED\xA0\x80",
      std::string(511, 'x'),
  };
  for (const auto& name : names) REQUIRE(store.insert(sandbox(name), text(name)));
  for (const auto& name : names) {
    CHECK(store.find(sandbox(name)).value()->document.body == name);
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto page = store.query(DocumentQuery{}).value();
  std::vector<std::string> listed;
  for (const auto& document : page.documents) listed.push_back(document.id.name);
  CHECK(listed == sorted);
}

TEMPLATE_TEST_CASE("MetadataStore: a name that is empty, too long or has a NUL is refused",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const std::string name = GENERATE(std::string(), std::string(513, 'x'), std::string("a\0b", 3));
  CHECK(store.insert(sandbox(name), text("")).error().code() == ErrorCode::kInvalidArgument);
  CHECK(store.find(sandbox(name)).error().code() == ErrorCode::kInvalidArgument);
  CHECK(store.swap(sandbox(name), Version{1}, text("")).error().code() ==
        ErrorCode::kInvalidArgument);
  CHECK(store.remove(sandbox(name), Version{1}).error().code() == ErrorCode::kInvalidArgument);
}

TEMPLATE_TEST_CASE("MetadataStore: a body may have 1 MiB, and one byte more is refused",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  const Document largest = text(std::string(1 << 20, '\xFE'));
  const Document larger = text(std::string((1 << 20) + 1, 'x'));
  const Version version = store.insert(sandbox("a"), largest).value();
  CHECK(store.insert(sandbox("b"), larger).error().code() == ErrorCode::kTooLarge);
  CHECK(store.swap(sandbox("a"), version, larger).error().code() == ErrorCode::kTooLarge);
  const auto found = store.find(sandbox("a")).value();
  CHECK(found->version == version);
  CHECK((found->document.body == largest.body));
  CHECK_FALSE(store.find(sandbox("b")).value());
}

TEMPLATE_TEST_CASE("MetadataStore: an empty body is a document too", "[contract][metadata]",
                   EVERY_METADATA_STORE) {
  TestType store;
  REQUIRE(store.insert(sandbox("a"), text("")));
  const auto found = store.find(sandbox("a")).value();
  REQUIRE(found);
  CHECK(found->document.body.empty());
}

TEMPLATE_TEST_CASE("MetadataStore: a call that is over before it starts does nothing",
                   "[contract][metadata]", EVERY_METADATA_STORE) {
  TestType store;
  std::stop_source stop;
  stop.request_stop();
  const CallContext cancelled{.stop = stop.get_token()};
  const CallContext late{.deadline = store.clock.now() - 1ms};
  const Version version = store.insert(sandbox("a"), text("1")).value();
  for (const auto& [call, code] :
       {std::pair(cancelled, ErrorCode::kCancelled), std::pair(late, ErrorCode::kTimeout)}) {
    const auto relaxed = Durability::kRelaxed;
    CHECK(store.insert(sandbox("b"), text("2"), relaxed, call).error().code() == code);
    CHECK(store.swap(sandbox("a"), version, text("2"), relaxed, call).error().code() == code);
    CHECK(store.remove(sandbox("a"), version, call).error().code() == code);
    CHECK(store.find(sandbox("a"), call).error().code() == code);
    CHECK(store.query(DocumentQuery{}, call).error().code() == code);
    CHECK(store.now(call).error().code() == code);
  }
  CHECK(store.find(sandbox("a")).value()->version == version);
  CHECK_FALSE(store.find(sandbox("b")).value());
}

TEMPLATE_TEST_CASE("MetadataStore: its time does not go back", "[contract][metadata]",
                   EVERY_METADATA_STORE) {
  TestType store;
  StoreTime last = store.now().value();
  CHECK(last > StoreTime{});
  for (int i = 0; i < 50; ++i) {
    const StoreTime time = store.now().value();
    REQUIRE(time >= last);
    last = time;
  }
}

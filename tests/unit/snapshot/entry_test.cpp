#include <catch2/catch.hpp>

#include "snapshot/archive/entry_order.hpp"
#include "snapshot/tree/extents.hpp"

using cove::snapshot::Entry;
using cove::snapshot::EntryOrder;
using cove::snapshot::EntryType;
using cove::snapshot::Extent;
using cove::snapshot::ExtentList;
using cove::snapshot::shown;

namespace {

Entry entry(const std::string& path, EntryType type = EntryType::kFile) {
  Entry entry;
  entry.path = path;
  entry.type = type;
  return entry;
}

Entry directory(const std::string& path) { return entry(path, EntryType::kDirectory); }

}  // namespace

TEST_CASE("EntryOrder: takes a tree from the top down and counts the directories above",
          "[unit][snapshot]") {
  EntryOrder order;
  CHECK(order.accept(directory("")).value() == 0);
  CHECK(order.accept(entry("f")).value() == 0);
  CHECK(order.accept(directory("a")).value() == 0);
  CHECK(order.accept(directory("a/b")).value() == 1);
  CHECK(order.accept(entry("a/b/f")).value() == 2);
  CHECK(order.accept(entry("a/g")).value() == 1);
  CHECK(order.accept(directory("ab")).value() == 0);
  CHECK(order.accept(entry("ab/f")).value() == 1);
}

TEST_CASE("EntryOrder: refuses what lies in a directory that was left", "[unit][snapshot]") {
  EntryOrder order;
  REQUIRE(order.accept(directory("")));
  REQUIRE(order.accept(directory("a")));
  REQUIRE(order.accept(directory("a/b")));
  REQUIRE(order.accept(entry("a/g")));
  CHECK_FALSE(order.accept(entry("a/b/late")));
  CHECK_FALSE(order.accept(entry("a/g/below-a-file")));
  CHECK_FALSE(order.accept(entry("b/f")));
}

TEST_CASE("shown: a path is one readable line", "[unit][snapshot]") {
  CHECK(shown("") == "'.'");
  CHECK(shown("plain file") == "'plain file'");
  CHECK(shown("a\nb\x7F") == "'a\\x0ab\\x7f'");
  CHECK(shown("\xE6\x95\xB0") == "'\xE6\x95\xB0'");
  CHECK(shown("\xFF\xE6\x95\xB0") == "'\\xff\\xe6\\x95\\xb0'");
  CHECK(shown(std::string(300, 'x')) == "'" + std::string(200, 'x') + "...'");
}

TEST_CASE("ExtentList: joins what touches and keeps the rest", "[unit][snapshot]") {
  ExtentList list;
  list.add({0, 10});
  list.add({10, 10});
  list.add({30, 5});
  CHECK(list.take() == std::vector<Extent>{{0, 20}, {30, 5}});
}

TEST_CASE("ExtentList: stays within its limit by closing the smallest holes", "[unit][snapshot]") {
  constexpr std::size_t kLimit = 64;
  ExtentList list(kLimit);
  constexpr std::uint64_t kStride = 8192;
  for (std::uint64_t i = 0; i < 1000; ++i) list.add({i * kStride, 4096});
  list.add({1ULL << 40, 4096});
  const auto extents = list.take();
  CHECK(extents.size() <= kLimit);
  CHECK(extents.front().offset == 0);
  CHECK(extents.back() == Extent{1ULL << 40, 4096});
  for (std::size_t i = 1; i < extents.size(); ++i) {
    CHECK(extents[i - 1].end() < extents[i].offset);
  }
}

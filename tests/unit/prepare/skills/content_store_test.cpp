// The contents of a package lie where they were put, whatever comes behind them.
#include "prepare/skills/package/content_store.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::prepare;

namespace {

Bytes of(std::size_t size, char filling) { return Bytes(size, static_cast<std::byte>(filling)); }

bool is(ByteView view, const Bytes& expected) {
  return std::equal(view.begin(), view.end(), expected.begin(), expected.end());
}

}  // namespace

TEST_CASE("ContentStore: earlier contents stay where they are", "[unit][prepare][skills]") {
  ContentStore store;
  std::vector<ByteView> kept;
  for (int i = 0; i < 100; ++i) {
    store.begin();
    store.append(of(300'000, static_cast<char>(i)));
    kept.push_back(store.current());
  }
  for (int i = 0; i < 100; ++i) {
    CHECK(is(kept[static_cast<std::size_t>(i)], of(300'000, static_cast<char>(i))));
  }
}

TEST_CASE("ContentStore: one that grows past its block stays whole", "[unit][prepare][skills]") {
  ContentStore store;
  store.begin();
  store.append(of(7U << 20U, 'a'));
  const ByteView before = store.current();
  store.begin();
  Bytes expected;
  for (int i = 0; i < 40; ++i) {
    const Bytes piece = of(1U << 20U, static_cast<char>(i));
    store.append(piece);
    expected.insert(expected.end(), piece.begin(), piece.end());
  }
  CHECK(is(store.current(), expected));
  CHECK(is(before, of(7U << 20U, 'a')));
}

TEST_CASE("ContentStore: what was expected and did not come is there for the next",
          "[unit][prepare][skills]") {
  ContentStore store;
  store.begin();
  CHECK(store.current().empty());
  store.expect(1U << 20U);
  store.append(of(1, 'x'));
  const ByteView one = store.current();
  store.begin();
  store.append(of(2, 'y'));
  CHECK(store.current().data() == one.data() + 1);
  store.begin();
  CHECK(store.current().empty());
  store.append({});
  CHECK(store.current().empty());
}

// A package goes to the guest while it is still being read.
#include "prepare/skills/package/package_stream.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "prepare/skills/place/tree_comparison.hpp"
#include "support/fakes/byte_sources.hpp"
#include "support/fakes/stepped_scheduler.hpp"
#include "support/trees/packed_package.hpp"

using namespace cove;
using namespace cove::prepare;
using namespace std::chrono_literals;

namespace {

PackageEntry file(ContentStore& store, const std::string& path, std::size_t size, char filling) {
  PackageEntry entry;
  entry.path = path;
  store.begin();
  store.append(Bytes(size, static_cast<std::byte>(filling)));
  entry.content = store.current();
  return entry;
}

/// Three files, one of them in a directory, and a link.
std::shared_ptr<const Package> package() {
  Package made;
  made.contents = std::make_shared<ContentStore>();
  ContentStore& store = *made.contents;
  PackageEntry directory;
  directory.path = "d";
  directory.type = PackageEntryType::kDirectory;
  PackageEntry link;
  link.path = "link";
  link.type = PackageEntryType::kSymlink;
  link.target = "a";
  made.entries = {file(store, "a", 700'000, 'a'), directory, file(store, "d/b", 1, 'b'),
                  file(store, "empty", 0, ' '), link};
  made.entries.front().executable = true;
  return std::make_shared<const Package>(std::move(made));
}

struct World {
  test::SteppedScheduler scheduler;
  PackageStream stream{scheduler};
  const CallContext call;
  std::shared_ptr<const Package> whole = package();

  std::string read_all() { return scheduler.run(test::read_all(stream, call)).value(); }

  void check_is_whole(const std::string& tar) const {
    TreeComparison comparison(*whole);
    REQUIRE(comparison.feed(test::bytes_of_text(tar)));
    CHECK(comparison.finish().value().empty());
  }
};

}  // namespace

TEST_CASE_METHOD(World, "PackageStream: what was offered goes first, the rest at the end",
                 "[unit][prepare][skills]") {
  stream.offer(whole->entries[2]);
  const Bytes first = scheduler.run(stream.next(call)).value();
  REQUIRE(first.size() >= 512);
  CHECK(static_cast<char>(first[0]) == 'd');
  stream.offer(whole->entries[0]);
  stream.finish(whole);
  std::string tar(reinterpret_cast<const char*>(first.data()), first.size());
  check_is_whole(tar + read_all());
}

TEST_CASE_METHOD(World, "PackageStream: nothing offered, all at the end",
                 "[unit][prepare][skills]") {
  stream.finish(whole);
  check_is_whole(read_all());
}

TEST_CASE_METHOD(World, "PackageStream: a reader waits for what comes", "[unit][prepare][skills]") {
  scheduler.call_at(scheduler.now() + 1s, [&] { stream.offer(whole->entries[0]); });
  scheduler.call_at(scheduler.now() + 2s, [&] { stream.offer(whole->entries[2]); });
  scheduler.call_at(scheduler.now() + 3s, [&] { stream.finish(whole); });
  check_is_whole(read_all());
}

TEST_CASE_METHOD(World, "PackageStream: what failed is looked at no more",
                 "[unit][prepare][skills]") {
  auto store = std::make_unique<ContentStore>();
  stream.offer(file(*store, "gone", 600'000, 'g'));
  REQUIRE(scheduler.run(stream.next(call)));  // its beginning
  stream.fail(Error(ErrorCode::kInvalidArgument, "it is broken"));
  store.reset();
  const auto after = scheduler.run(stream.next(call));
  REQUIRE_FALSE(after);
  CHECK(after.error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE_METHOD(World, "PackageStream: a reader that waits hears of a failure, and of its own end",
                 "[unit][prepare][skills]") {
  SECTION("failure") {
    scheduler.call_at(scheduler.now() + 1s,
                      [&] { stream.fail(Error(ErrorCode::kTooLarge, "too large")); });
    CHECK(scheduler.run(stream.next(call)).error().code() == ErrorCode::kTooLarge);
  }
  SECTION("deadline") {
    const CallContext bounded{scheduler.now() + 1s, {}};
    CHECK(scheduler.run(stream.next(bounded)).error().code() == ErrorCode::kTimeout);
  }
}

TEST_CASE_METHOD(World, "PackageStream: what comes twice goes once", "[unit][prepare][skills]") {
  stream.offer(whole->entries[2]);
  stream.offer(whole->entries[2]);
  stream.finish(whole);
  check_is_whole(read_all());
}

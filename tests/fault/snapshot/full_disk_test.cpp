// Full disks: a tmpfs of a few MiB that is mounted nowhere.
#include <catch2/catch.hpp>

#include "objects/directory/directory_objects.hpp"
#include "support/fixtures/snapshot_fixture.hpp"
#include "support/skip.hpp"
#include "support/trees/small_disk.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using cove::ErrorCode;
using cove::test::BlockingObjects;
using cove::test::describe_tree;
using cove::test::free_blocks;
using cove::test::kSingle;
using cove::test::make_small_disk;
using cove::test::path_of;
using cove::test::SnapshotFixture;
using cove::test::TreeBuilder;

namespace {

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 3;
  for (char& c : text) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  return text;
}

constexpr std::size_t kMuch = 6 << 20;

}  // namespace

#define REQUIRE_DISK(disk, size)           \
  const auto disk = make_small_disk(size); \
  if (!(disk)) return cove::test::skip("only root can make a small disk to fill");

TEST_CASE("DirectoryObjects: on a full disk a put says so and leaves nothing",
          "[fault][objects][pain-18]") {
  REQUIRE_DISK(disk, "4m");
  const bool unnamed = GENERATE(true, false);
  cove::base::IoLoop loop;
  cove::base::WorkerPool pool(2);
  const auto store = cove::objects::open_directory_objects(path_of(disk) + "/store", pool, loop,
                                                           {.unnamed_files = unnamed})
                         .value();
  BlockingObjects objects(*store, loop);
  REQUIRE(objects.put("small", "x"));
  REQUIRE(objects.put("warm-up/x", "x"));
  REQUIRE(objects.remove("warm-up/x"));
  const auto room = free_blocks(disk);
  CHECK(objects.put("a/b/large", noise(kMuch)).error().code() == ErrorCode::kQuotaExceeded);
  CHECK(free_blocks(disk) + 1 >= room);
  CHECK(objects.keys() == std::vector<std::string>{"small"});
  CHECK(objects.put("a/b/large", noise(1 << 20)));
}

TEST_CASE("Snapshot: a store without room fails the save, and the workspace is as it was",
          "[fault][snapshot][pain-18][pain-76]") {
  REQUIRE_DISK(disk, "4m");
  cove::base::IoLoop loop;
  cove::base::WorkerPool pool(2);
  const auto store =
      cove::objects::open_directory_objects(path_of(disk) + "/store", pool, loop).value();
  SnapshotFixture fixture(kSingle, store.get());
  TreeBuilder(fixture.source.path()).file("large", noise(kMuch));
  const auto before = describe_tree(fixture.source.path());
  CHECK(fixture.save().error().code() == ErrorCode::kQuotaExceeded);
  CHECK(fixture.objects.keys().empty());
  CHECK(describe_tree(fixture.source.path()) == before);
}

TEST_CASE("Snapshot: a volume or a spool without room fails the restore, and a larger one works",
          "[fault][snapshot]") {
  REQUIRE_DISK(disk, "4m");
  SnapshotFixture fixture;
  TreeBuilder(fixture.source.path()).file("large", noise(kMuch));
  const auto snapshot = fixture.save().value();
  const cove::CallContext call;
  SECTION("the volume") {
    cove::test::DirectoryVolume volume(path_of(disk) + "/volume", kSingle);
    CHECK(cove::base::sync_wait(fixture.loop, fixture.snapshotter->restore(snapshot, volume, call))
              .error()
              .code() == ErrorCode::kQuotaExceeded);
    CHECK(volume.syncs == 0);
  }
  SECTION("the spool") {
    const auto snapshotter = cove::snapshot::make_tar_snapshotter(
        *fixture.store, fixture.pool, fixture.loop, fixture.clock, path_of(disk));
    const auto room = free_blocks(disk);
    CHECK(cove::base::sync_wait(fixture.loop, snapshotter->restore(snapshot, fixture.target, call))
              .error()
              .code() == ErrorCode::kQuotaExceeded);
    CHECK(fixture.target_is_empty());
    CHECK(free_blocks(disk) == room);
  }
  REQUIRE(fixture.verify(snapshot));
  REQUIRE(fixture.restore(snapshot));
  CHECK(describe_tree(fixture.target.path()) == describe_tree(fixture.source.path()));
}

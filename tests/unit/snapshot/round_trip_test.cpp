#include <clocale>

#include <catch2/catch.hpp>

#include "support/fixtures/snapshot_fixture.hpp"
#include "support/skip.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using namespace std::string_literals;
using cove::ErrorCode;
using cove::SnapshotRef;
using cove::test::describe_tree;
using cove::test::kRange;
using cove::test::kSingle;
using cove::test::SnapshotFixture;
using cove::test::TreeBuilder;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 7;
  for (char& c : text) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  return text;
}

/// Files of every kind, then the times from the leaves up.
void build_everything(TreeBuilder& tree) {
  tree.file("empty", "");
  tree.file("plain.txt", "hello\n", 0640);
  tree.file("large.bin", noise(3 * kMiB + 17));
  tree.file("setuid", "#!/bin/sh\n", 04755);
  tree.file("setgid", "#!/bin/sh\n", 02711);
  tree.file("locked", "nobody may", 0000);
  tree.file("zeros", std::string(300'000, '\0'));
  tree.directory("sticky", 01777);
  tree.directory("empty-dir", 0700);
  tree.directory("read-only", 0755);
  tree.file("read-only/inside", "x", 0444);
  tree.symlink("link", "plain.txt");
  tree.symlink("dangling", "/no/such\nplace/\xFF\xFE");
  tree.symlink("long-link", std::string(4000, 't'));
  tree.symlink("to-dir", "sticky");
  tree.hard_link("plain-again", "plain.txt");
  tree.hard_link("sticky/plain-third", "plain.txt");
  tree.hard_link("link-again", "link");
  tree.fifo("fifo", 0622);
  tree.file("with space", "1");
  tree.file("line\nbreak", "2");
  tree.file("\xE6\x95\xB0\xE6\x8D\xAE.csv", "3");
  tree.file("not-utf8-\xFF\xC0\x80", "4");
  tree.file("-rf *?[a]\\\"'", "5");
  tree.file(std::string(255, 'n'), "6");
  tree.file("._apple", "7");
  tree.attribute("plain.txt", "user.note", "text");
  tree.attribute("plain.txt", "user.bytes=odd \xFF", "\0\x01=\n"s);
  tree.attribute("empty-dir", "user.empty", "");
  tree.sparse("hole-first", 5 * kMiB, "data", 5 * kMiB + 4);
  tree.sparse("hole-last", 0, noise(8192), 64 * kMiB);
  tree.sparse("hole-both", 1 * kMiB, noise(4096), 3 * kMiB);
  tree.sparse("hole-both", 2 * kMiB, noise(12288), 3 * kMiB);
  tree.sparse("hole-only", 0, "", 10'000 * kMiB);
  tree.time("hole-only", 1, 1);
  tree.time("link", 1'700'000'001, 123'456'789);
  tree.time("empty", -5, 999'999'999);
  tree.time("large.bin", 4'102'444'800, 1);
  tree.time("fifo", 0, 0);
  tree.time("sticky", 1'600'000'000, 987'654'321);
  tree.mode("read-only", 0555);
  tree.time("read-only", 1'500'000'000, 5);
}

}  // namespace

TEST_CASE("Snapshot: everything in a workspace comes back as it was, for one user",
          "[unit][snapshot][threads][pain-75]") {
  SnapshotFixture fixture(kSingle);
  TreeBuilder tree(fixture.source.path());
  build_everything(tree);
  tree.mode("", 0711);
  tree.time("", 1'234'567'890, 42);
  const auto before = describe_tree(fixture.source.path());

  const SnapshotRef snapshot = fixture.save().value();
  CHECK(snapshot.entries == before.size() - 1);
  REQUIRE(fixture.verify(snapshot));
  REQUIRE(fixture.restore(snapshot));
  CHECK(fixture.target.syncs == 1);
  CHECK(describe_tree(fixture.target.path()) == before);
  CHECK(describe_tree(fixture.source.path()) == before);
}

TEST_CASE("Snapshot: everything comes back under a UTF-8 locale too", "[unit][snapshot]") {
  SnapshotFixture fixture(kSingle);
  TreeBuilder tree(fixture.source.path());
  build_everything(tree);
  REQUIRE(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
  const auto snapshot = fixture.save();
  const auto restored = snapshot ? fixture.restore(*snapshot) : snapshot.error();
  std::setlocale(LC_ALL, "C");
  REQUIRE(restored);
  CHECK(describe_tree(fixture.target.path()) == describe_tree(fixture.source.path()));
}

TEST_CASE("Snapshot: owners are kept as the sandbox sees them", "[unit][snapshot]") {
  if (::geteuid() != 0) return cove::test::skip("needs root to give files to a range of ids");
  SnapshotFixture fixture(kRange);
  TreeBuilder tree(fixture.source.path());
  build_everything(tree);
  for (const auto& [path, text] : describe_tree(fixture.source.path())) {
    if (path == "setuid") continue;
    tree.owner(path, kRange.offset + 1000, kRange.offset + 1000);
  }
  tree.owner("fifo", kRange.offset, kRange.offset + 65'535);
  tree.owner("setuid", kRange.offset + 7, kRange.offset + 8);
  tree.mode("setuid", 04755);
  tree.mode("setgid", 02711);
  const auto before = describe_tree(fixture.source.path(), {.id_offset = kRange.offset});
  CHECK(before.at("setuid").starts_with("file 4755 7:8 "));

  const SnapshotRef snapshot = fixture.save().value();
  REQUIRE(fixture.restore(snapshot));
  CHECK(describe_tree(fixture.target.path(), {.id_offset = kRange.offset}) == before);

  SECTION("and come back in another range") {
    const cove::IdMapping other{.offset = 900'000, .count = 65'536};
    cove::test::DirectoryVolume volume(fixture.scratch.path("other"), other);
    const cove::CallContext call;
    REQUIRE(
        cove::base::sync_wait(fixture.loop, fixture.snapshotter->restore(snapshot, volume, call)));
    CHECK(describe_tree(volume.path(), {.id_offset = other.offset}) == before);
  }
  SECTION("and are left alone where there is one user only") {
    cove::test::DirectoryVolume volume(fixture.scratch.path("single"), kSingle);
    const cove::CallContext call;
    REQUIRE(
        cove::base::sync_wait(fixture.loop, fixture.snapshotter->restore(snapshot, volume, call)));
    CHECK(describe_tree(volume.path(), {.with_owners = false}) ==
          describe_tree(fixture.source.path(), {.with_owners = false}));
    CHECK(describe_tree(volume.path()).at("setuid").starts_with("file 4755 0:0 "));
  }
}

TEST_CASE("Snapshot: an owner that the sandbox does not have becomes nobody", "[unit][snapshot]") {
  if (::geteuid() != 0) return cove::test::skip("needs root to give files to a range of ids");
  SnapshotFixture fixture(kRange);
  TreeBuilder(fixture.source.path()).file("of-the-host", "x");
  REQUIRE(fixture.restore(fixture.save().value()));
  const auto after = describe_tree(fixture.target.path(), {.id_offset = kRange.offset});
  CHECK(after.at("of-the-host").starts_with("file 644 65534:65534 "));
}

TEST_CASE("Snapshot: an empty mapping of ids is refused", "[unit][snapshot]") {
  SnapshotFixture fixture(cove::IdMapping{});
  CHECK(fixture.save().error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Snapshot: an empty workspace is a snapshot too", "[unit][snapshot]") {
  SnapshotFixture fixture;
  const SnapshotRef snapshot = fixture.save().value();
  CHECK(snapshot.entries == 0);
  CHECK(snapshot.content_bytes == 0);
  REQUIRE(fixture.verify(snapshot));
  REQUIRE(fixture.restore(snapshot));
  CHECK(fixture.target_is_empty());
}

TEST_CASE("Snapshot: sockets and devices are left out, counted and told of", "[unit][snapshot]") {
  SnapshotFixture fixture;
  TreeBuilder tree(fixture.source.path());
  tree.socket("s1");
  tree.socket("s2");
  tree.file("kept", "x");
  const SnapshotRef snapshot = fixture.save().value();
  CHECK(snapshot.entries == 1);
  CHECK(fixture.log.text ==
        "snapshot of app-0123456789abcdef0123456789abcdef left out 2 sockets and 0 devices\n");
  REQUIRE(fixture.restore(snapshot));
  CHECK(describe_tree(fixture.target.path()).size() == 2);
}

TEST_CASE("Snapshot: content_bytes are those of files, without holes and once for hard links",
          "[unit][snapshot]") {
  SnapshotFixture fixture;
  TreeBuilder tree(fixture.source.path());
  tree.file("a", std::string(1000, 'a'));
  tree.hard_link("b", "a");
  tree.sparse("s", 8 * kMiB, std::string(4096, 's'), 100 * kMiB);
  const SnapshotRef snapshot = fixture.save().value();
  CHECK(snapshot.content_bytes == 1000 + 4096);
  CHECK(snapshot.entries == 3);
}

TEST_CASE("Snapshot: a file with more holes than the list takes comes back whole",
          "[unit][snapshot]") {
  SnapshotFixture fixture;
  TreeBuilder tree(fixture.source.path());
  constexpr std::uint64_t kStride = 16'384;
  constexpr std::uint64_t kBlocks = 20'000;
  tree.file("holes", "");
  {
    const cove::base::UniqueFd fd(::open(tree.at("holes").c_str(), O_WRONLY | O_CLOEXEC));
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      const std::string block(4096, static_cast<char>('a' + i % 26));
      REQUIRE(::pwrite(*fd, block.data(), block.size(), static_cast<off_t>(i * kStride)) == 4096);
    }
    REQUIRE(::ftruncate(*fd, static_cast<off_t>(kBlocks * kStride)) == 0);
  }
  const SnapshotRef snapshot = fixture.save().value();
  REQUIRE(fixture.restore(snapshot));
  CHECK(describe_tree(fixture.target.path()) == describe_tree(fixture.source.path()));
}

TEST_CASE("Snapshot: 10,000 small files in one directory come back", "[unit][snapshot]") {
  SnapshotFixture fixture;
  TreeBuilder tree(fixture.source.path());
  tree.directory("many");
  for (int i = 0; i < 10'000; ++i) {
    tree.file("many/file " + std::to_string(i), std::to_string(i));
  }
  const SnapshotRef snapshot = fixture.save().value();
  CHECK(snapshot.entries == 10'001);
  REQUIRE(fixture.restore(snapshot));
  CHECK(describe_tree(fixture.target.path()) == describe_tree(fixture.source.path()));
}

TEST_CASE("Snapshot: trees deeper than PATH_MAX come back, with few descriptors open",
          "[unit][snapshot]") {
  SnapshotFixture fixture;
  // 300 levels, with siblings on the way back up, and names long enough for 30 KB of path.
  cove::base::UniqueFd at(::open(fixture.source.path().c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name(100, 'd');
  for (int level = 0; level < 300; ++level) {
    for (const auto* sibling : {"before", "zzz", "dir"}) {
      REQUIRE(::mkdirat(*at, sibling, 0755) == 0);
    }
    REQUIRE(::mkdirat(*at, name.c_str(), 0750) == 0);
    const cove::base::UniqueFd file(::openat(*at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    REQUIRE(::write(*file, name.data(), name.size()) == 100);
    at.reset(::openat(*at, name.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(at);
  }
  const cove::base::UniqueFd deepest(
      ::openat(*at, "deepest", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  REQUIRE(::linkat(*at, "deepest", *at, "deepest-again", 0) == 0);
  const SnapshotRef snapshot = fixture.save().value();
  REQUIRE(fixture.verify(snapshot));
  REQUIRE(fixture.restore(snapshot));
  CHECK(describe_tree(fixture.target.path()) == describe_tree(fixture.source.path()));
}

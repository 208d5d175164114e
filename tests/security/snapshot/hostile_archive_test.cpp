// Archives whose checksums are right and whose content is an attack.
#include <catch2/catch.hpp>

#include "support/trees/hand_made_archive.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using cove::Error;
using cove::ErrorCode;
using cove::SnapshotRef;
using cove::test::compressed;
using cove::test::describe_tree;
using cove::test::HandMadeTar;
using cove::test::SnapshotFixture;
using cove::test::store_snapshot;

namespace {

/// Restores the archive and expects a refusal; returns its message.
std::string refusal_of(const HandMadeTar& tar, std::uint64_t entries, std::uint64_t bytes = 0) {
  SnapshotFixture fixture;
  // What the attacks aim at: beside the workspace, outside of it.
  cove::test::TreeBuilder outside(fixture.scratch.path());
  outside.file("victim", "untouched");
  const auto before = describe_tree(fixture.scratch.path()).at("victim");
  const SnapshotRef snapshot = store_snapshot(fixture, compressed(tar.tar()), entries, bytes);
  const auto restored = fixture.restore(snapshot);
  REQUIRE_FALSE(restored);
  CHECK(restored.error().code() == ErrorCode::kIntegrity);
  CHECK(describe_tree(fixture.scratch.path()).at("victim") == before);
  const std::string message = restored.error().message();
  CHECK_THAT(message, Catch::Contains(snapshot.objects[0].key.str()));
  return message;
}

void check_refused(const HandMadeTar& tar, std::uint64_t entries, const std::string& why,
                   std::uint64_t bytes = 0) {
  CAPTURE(why);
  CHECK_THAT(refusal_of(tar, entries, bytes), Catch::Contains(why));
}

}  // namespace

TEST_CASE("HostileArchive: an honest one made by hand is taken", "[security][snapshot]") {
  SnapshotFixture fixture;
  HandMadeTar tar;
  tar.add("d/", '5').add("d/f", '0', "", "text").add("l", '2', "/etc/passwd").add("h", '1', "d/f");
  REQUIRE(fixture.restore(store_snapshot(fixture, compressed(tar.tar()), 4, 4)));
  const auto found = describe_tree(fixture.target.path());
  CHECK(found.size() == 5);
  CHECK_THAT(found.at("l"), Catch::Contains("-> /etc/passwd"));
  CHECK_THAT(found.at("h"), Catch::Contains("same as d/f"));
}

TEST_CASE("HostileArchive: names that lead out are refused", "[security][snapshot][pain-70]") {
  check_refused(HandMadeTar().add("/etc/x", '0'), 1, "absolute name");
  check_refused(HandMadeTar().add("../victim", '0', "", "owned"), 1, "'.' or '..'", 5);
  check_refused(HandMadeTar().add("d/", '5').add("d/../../victim", '0', "", "owned"), 2,
                "'.' or '..'", 5);
  check_refused(HandMadeTar().add("..", '5'), 1, "'.' or '..'");
  check_refused(HandMadeTar().add("./x", '0'), 1, "'.' or '..'");
  check_refused(HandMadeTar().add("d/", '5').add("d//x", '0'), 2, "empty segment");
  check_refused(HandMadeTar().add("d//", '5'), 1, "empty segment");
  check_refused(HandMadeTar().pax("path", std::string(256, 'n')).add("n", '0'), 1, "255 bytes");
}

TEST_CASE("HostileArchive: nothing is written through a link", "[security][snapshot][pain-70]") {
  check_refused(HandMadeTar().add("out", '2', "..").add("out/victim", '0', "", "owned"), 2,
                "is open there", 5);
  check_refused(HandMadeTar().add("out", '2', "..").add("out/", '5').add("out/victim", '0'), 3,
                "comes twice");
  check_refused(HandMadeTar().add("f", '2', "../victim").add("f", '0', "", "owned"), 2,
                "comes twice", 5);
  check_refused(HandMadeTar().add("d/", '5').add("e/", '5').add("d/late", '0'), 3, "is open there");
  check_refused(HandMadeTar().add("missing/x", '0'), 1, "is open there");
}

TEST_CASE("HostileArchive: a hard link leads only to an earlier entry",
          "[security][snapshot][pain-70]") {
  check_refused(HandMadeTar().add("h", '1', "../victim"), 1, "'.' or '..'");
  check_refused(HandMadeTar().add("h", '1', "/etc/passwd"), 1, "absolute name");
  check_refused(HandMadeTar().add("h", '1', "later").add("later", '0'), 2, "no earlier entry");
  check_refused(HandMadeTar().add("d/", '5').add("h", '1', "d"), 2, "no earlier entry");
  check_refused(HandMadeTar().add("out", '2', "..").add("h", '1', "out/victim"), 2,
                "no earlier entry");
  check_refused(HandMadeTar().add("h", '1', "h"), 1, "no earlier entry");
}

TEST_CASE("HostileArchive: a hard link to a link does not follow it",
          "[security][snapshot][pain-70]") {
  SnapshotFixture fixture;
  HandMadeTar tar;
  tar.add("out", '2', "../victim").add("h", '1', "out");
  REQUIRE(fixture.restore(store_snapshot(fixture, compressed(tar.tar()), 2, 0)));
  CHECK_THAT(describe_tree(fixture.target.path()).at("h"), Catch::Contains("-> ../victim"));
}

TEST_CASE("HostileArchive: kinds, names and attributes that no snapshot has are refused",
          "[security][snapshot]") {
  check_refused(HandMadeTar().add("null", '3'), 1, "of a kind");
  check_refused(HandMadeTar().add("disk", '4'), 1, "of a kind");
  check_refused(HandMadeTar().add("x", '0').add("x", '0'), 2, "comes twice");
  check_refused(HandMadeTar().add("x", '5').add("x", '0'), 2, "comes twice");
  check_refused(HandMadeTar().add("./", '5'), 1, "not its first directory");
  check_refused(HandMadeTar(false).add("x", '0'), 1, "before the workspace itself");
  check_refused(HandMadeTar().pax("SCHILY.xattr.security.capability", "x").add("x", '0'), 1,
                "only those of user.");
  check_refused(HandMadeTar().pax("SCHILY.xattr.trusted.overlay.opaque", "y").add("x", '5'), 1,
                "only those of user.");
}

TEST_CASE("HostileArchive: an owner outside of the sandbox's ids is refused",
          "[security][snapshot]") {
  SnapshotFixture fixture(cove::test::kRange);
  const HandMadeTar tar = HandMadeTar().add("x", '0', "", "", 65'536);
  const auto restored = fixture.restore(store_snapshot(fixture, compressed(tar.tar()), 1, 0));
  REQUIRE_FALSE(restored);
  CHECK(restored.error().code() == ErrorCode::kIntegrity);
  CHECK_THAT(restored.error().message(), Catch::Contains("outside of the sandbox's ids"));
}

TEST_CASE("HostileArchive: more than the manifest says is never written",
          "[security][snapshot][pain-70]") {
  SnapshotFixture fixture;
  SECTION("content") {
    // 256 MiB in 25 KB; the manifest promises 1000 bytes.
    const HandMadeTar tar = HandMadeTar().add("bomb", '0', "", std::string(256 << 20, '\0'));
    const SnapshotRef snapshot = store_snapshot(fixture, compressed(tar.tar()), 1, 1000);
    CHECK(fixture.verify(snapshot).error().code() == ErrorCode::kIntegrity);
    CHECK_THAT(fixture.restore(snapshot).error().message(),
               Catch::Contains("more than the 1000 bytes"));
  }
  SECTION("entries") {
    HandMadeTar tar;
    for (int i = 0; i < 2000; ++i) tar.add("f" + std::to_string(i), '0');
    const SnapshotRef snapshot = store_snapshot(fixture, compressed(tar.tar()), 10, 0);
    CHECK_THAT(fixture.restore(snapshot).error().message(), Catch::Contains("more than the 10"));
  }
  SECTION("bytes behind the last entry") {
    const std::string tar = HandMadeTar().tar() + std::string(64 << 20, '\0');
    const SnapshotRef snapshot = store_snapshot(fixture, compressed(tar), 0, 0);
    CHECK_THAT(fixture.restore(snapshot).error().message(),
               Catch::Contains("goes on after its last entry"));
  }
  SECTION("a second frame") {
    const std::string data = compressed(HandMadeTar().tar()) + compressed("more");
    const SnapshotRef snapshot = store_snapshot(fixture, data, 0, 0);
    CHECK_THAT(fixture.restore(snapshot).error().message(),
               Catch::Contains("goes on after its end"));
  }
  CHECK(fixture.target_is_empty());
}

TEST_CASE("HostileArchive: headers without an end do not fill memory", "[security][snapshot]") {
  SnapshotFixture fixture;
  HandMadeTar tar;
  for (int i = 0; i < 12; ++i) tar.pax("comment", std::string(1'000'000, 'c'));
  tar.add("x", '0');
  const auto verified = fixture.verify(store_snapshot(fixture, compressed(tar.tar()), 1, 0));
  REQUIRE_FALSE(verified);
  CHECK(verified.error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("HostileArchive: what is no archive at all is refused", "[security][snapshot]") {
  for (const std::string& data :
       {std::string(), std::string("hello"), compressed(""), compressed("hello"),
        compressed(std::string(100'000, 'x')), HandMadeTar().tar()}) {
    SnapshotFixture fixture;
    const SnapshotRef snapshot = store_snapshot(fixture, data, 0, 0);
    CHECK(fixture.verify(snapshot).error().code() == ErrorCode::kIntegrity);
    CHECK(fixture.restore(snapshot).error().code() == ErrorCode::kIntegrity);
    CHECK(fixture.target_is_empty());
  }
}

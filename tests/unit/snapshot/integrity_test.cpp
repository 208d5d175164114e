#include <catch2/catch.hpp>

#include "support/trees/hand_made_archive.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using cove::ErrorCode;
using cove::ObjectKey;
using cove::SnapshotRef;
using cove::test::describe_tree;
using cove::test::SnapshotFixture;
using cove::test::TreeBuilder;

namespace {

struct Saved {
  Saved() {
    TreeBuilder tree(fixture.source.path());
    tree.directory("d");
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
    tree.file("d/text", text);
    tree.symlink("l", "d/text");
    snapshot = fixture.save().value();
    data = fixture.objects.get(snapshot.objects[0].key.str()).value();
    manifest = fixture.objects.get(snapshot.objects[1].key.str()).value();
  }

  void replace(std::size_t object, const std::string& bytes) {
    const std::string key = snapshot.objects[object].key.str();
    fixture.objects.remove(key).value();
    fixture.objects.put(key, bytes).value();
  }

  /// Both ways refuse, name the object, and nothing is written.
  void check_refused(std::size_t object) {
    const auto verified = fixture.verify(snapshot);
    REQUIRE_FALSE(verified);
    CHECK(verified.error().code() == ErrorCode::kIntegrity);
    CHECK_THAT(verified.error().message(), Catch::Contains(snapshot.objects[object].key.str()));
    const auto restored = fixture.restore(snapshot);
    REQUIRE_FALSE(restored);
    CHECK(restored.error().code() == ErrorCode::kIntegrity);
    CHECK(fixture.target_is_empty());
  }

  SnapshotFixture fixture;
  SnapshotRef snapshot;
  std::string data;
  std::string manifest;
};

}  // namespace

TEST_CASE("Snapshot: a flipped bit anywhere is refused, and nothing is restored",
          "[unit][snapshot]") {
  Saved saved;
  for (std::size_t at = 0; at < saved.data.size(); at += 1 + saved.data.size() / 60) {
    std::string bytes = saved.data;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    saved.replace(0, bytes);
    CAPTURE(at);
    saved.check_refused(0);
  }
  saved.replace(0, saved.data);
  for (std::size_t at = 0; at < saved.manifest.size(); at += 17) {
    std::string bytes = saved.manifest;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    saved.replace(1, bytes);
    CAPTURE(at);
    saved.check_refused(1);
  }
}

TEST_CASE("Snapshot: an object that was cut short or grew is refused", "[unit][snapshot]") {
  Saved saved;
  for (std::size_t size = 0; size < saved.data.size(); size += 1 + saved.data.size() / 40) {
    saved.replace(0, saved.data.substr(0, size));
    CAPTURE(size);
    saved.check_refused(0);
  }
  saved.replace(0, saved.data.substr(0, saved.data.size() - 1));
  saved.check_refused(0);
  saved.replace(0, saved.data + "x");
  saved.check_refused(0);
  saved.replace(0, saved.data);
  for (const std::size_t size : {std::size_t{0}, saved.manifest.size() - 1}) {
    saved.replace(1, saved.manifest.substr(0, size));
    saved.check_refused(1);
  }
  saved.replace(1, saved.manifest + " ");
  saved.check_refused(1);
}

TEST_CASE("Snapshot: a missing object is refused by its name", "[unit][snapshot]") {
  for (const std::size_t object : {0U, 1U}) {
    Saved saved;
    saved.fixture.objects.remove(saved.snapshot.objects[object].key.str()).value();
    CHECK_THAT(saved.fixture.verify(saved.snapshot).error().message(),
               Catch::Contains("is missing"));
    saved.check_refused(object);
  }
}

TEST_CASE("Snapshot: a record that names other numbers than the manifest is refused",
          "[unit][snapshot]") {
  Saved saved;
  SECTION("entries") { ++saved.snapshot.entries; }
  SECTION("content") { --saved.snapshot.content_bytes; }
  SECTION("data") { saved.snapshot.objects[0].key = saved.snapshot.objects[1].key; }
  SECTION("one object only") { saved.snapshot.objects.pop_back(); }
  CHECK(saved.fixture.verify(saved.snapshot).error().code() == ErrorCode::kIntegrity);
  CHECK(saved.fixture.restore(saved.snapshot).error().code() == ErrorCode::kIntegrity);
  CHECK(saved.fixture.target_is_empty());
}

TEST_CASE("Snapshot: an archive with fewer entries than its manifest says is refused",
          "[unit][snapshot]") {
  SnapshotFixture fixture;
  const auto tar = cove::test::HandMadeTar().add("x", '0', "", "four");
  const auto snapshot =
      cove::test::store_snapshot(fixture, cove::test::compressed(tar.tar()), 2, 4);
  CHECK_THAT(fixture.verify(snapshot).error().message(),
             Catch::Contains("has 1 entries and 4 bytes of content, its manifest says 2 and 4"));
}

TEST_CASE("Snapshot: a format of the future is told apart from damage", "[unit][snapshot]") {
  Saved saved;
  saved.snapshot.format = 3;
  CHECK(saved.fixture.verify(saved.snapshot).error().code() == ErrorCode::kUnsupported);
  CHECK(cove::snapshot::parse_manifest("{\"format\": 3}").error().code() ==
        ErrorCode::kUnsupported);
}

TEST_CASE("Snapshot: the manifest holds the whole owner and the data's checksum",
          "[unit][snapshot]") {
  Saved saved;
  const auto manifest = cove::snapshot::parse_manifest(saved.manifest).value();
  const auto owner = cove::test::test_owner();
  CHECK(manifest.owner.key == owner.key);
  CHECK(manifest.owner.deployment == owner.deployment);
  CHECK(manifest.owner.sandbox == owner.sandbox);
  CHECK(manifest.owner.incarnation == owner.incarnation);
  CHECK(manifest.attempt.str() == "attempt1");
  CHECK(manifest.workspace.data == saved.snapshot.objects[0]);
  CHECK(manifest.workspace.counts.entries == 3);
  CHECK(saved.snapshot.objects[0].key.str() ==
        "cove/v1/" + owner.deployment.str() + "/" + owner.sandbox.str() + "/" +
            owner.incarnation.str() + "/attempt1/data.tar.zst");
  CHECK(saved.snapshot.objects[1].key.str().ends_with("/attempt1/manifest.json"));
}

TEST_CASE("Snapshot: a manifest without one of its fields is refused", "[unit][snapshot]") {
  const Saved saved;
  for (const auto* field :
       {"format", "deployment", "sandbox", "incarnation", "attempt", "key", "user_id", "data",
        "sha256", "size", "entries", "content_bytes", "skipped", "sockets"}) {
    std::string text = saved.manifest;
    const auto at = text.find("\"" + std::string(field) + "\"");
    REQUIRE(at != std::string::npos);
    text[at + 1] = '_';
    CAPTURE(field);
    CHECK(cove::snapshot::parse_manifest(text).error().code() == ErrorCode::kIntegrity);
  }
  CHECK(cove::snapshot::parse_manifest("[]").error().code() == ErrorCode::kIntegrity);
  CHECK(cove::snapshot::parse_manifest("{").error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Snapshot: a volume that is not empty is not restored into", "[unit][snapshot]") {
  Saved saved;
  TreeBuilder(saved.fixture.target.path()).file(".there", "mine");
  const auto before = describe_tree(saved.fixture.target.path());
  CHECK(saved.fixture.restore(saved.snapshot).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(describe_tree(saved.fixture.target.path()) == before);
}

TEST_CASE("Snapshot: removing is complete, keeps others and can be repeated", "[unit][snapshot]") {
  Saved saved;
  auto& fixture = saved.fixture;
  const SnapshotRef second = fixture.save({}, "attempt2").value();
  REQUIRE(fixture.objects.put("cove/v1/" + std::string(32, 'd') + "/other", "x"));
  CHECK(fixture.save({}, "attempt2").error().code() == ErrorCode::kAlreadyExists);
  SECTION("by reference") {
    CHECK(fixture.remove(saved.snapshot));
    CHECK(fixture.remove(saved.snapshot));
    CHECK(fixture.verify(second));
    CHECK(fixture.objects.keys().size() == 3);
  }
  SECTION("by attempt") {
    CHECK(fixture.remove_all("attempt1"));
    CHECK(fixture.remove_all("attempt1"));
    CHECK(fixture.remove_all("attempt"));
    CHECK(fixture.verify(second));
    CHECK(fixture.objects.keys().size() == 3);
  }
  SECTION("by incarnation") {
    CHECK(fixture.remove_all());
    CHECK(fixture.remove_all());
    CHECK(fixture.objects.keys().size() == 1);
  }
}

TEST_CASE("Snapshot: an owner with an empty part removes nothing", "[unit][snapshot]") {
  Saved saved;
  auto owner = cove::test::test_owner();
  SECTION("incarnation") { owner.incarnation = cove::Incarnation(); }
  SECTION("sandbox") { owner.sandbox = cove::SandboxId(); }
  SECTION("deployment") { owner.deployment = cove::DeploymentId(); }
  const cove::OperationId none;
  const cove::CallContext call;
  CHECK(cove::base::sync_wait(saved.fixture.loop,
                              saved.fixture.snapshotter->remove_all(owner, none, call))
            .error()
            .code() == ErrorCode::kInvalidArgument);
  CHECK(saved.fixture.objects.keys().size() == 2);
  CHECK(saved.fixture.save({}, "").error().code() == ErrorCode::kInvalidArgument);
}

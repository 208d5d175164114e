// Snapshots that keep HOME beside the workspace.
#include <filesystem>

#include <catch2/catch.hpp>

#include "snapshot/manifest.hpp"
#include "support/fixtures/snapshot_fixture.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using cove::ErrorCode;
using cove::SnapshotRef;
using cove::snapshot::Keeps;
using cove::test::describe_tree;
using cove::test::kSingle;
using cove::test::SnapshotFixture;
using cove::test::TreeBuilder;

namespace {

struct WithHome {
  WithHome() {
    fixture.keep(Keeps::kHomeToo);
    TreeBuilder workspace(fixture.source.path());
    workspace.file("note", "hello");
    TreeBuilder home(source_home);
    home.directory(".local", 0700);
    home.file(".local/tool", "#!/bin/sh\n", 0755);
    home.symlink("link", ".local/tool");
    home.file(".bashrc", "export A=1\n", 0600);
  }

  bool target_is_empty() const {
    return fixture.target_is_empty() && std::filesystem::is_empty(target_home);
  }

  SnapshotFixture fixture;
  std::string source_home = fixture.source.add_home();
  std::string target_home = fixture.target.add_home();
};

}  // namespace

TEST_CASE("Snapshot: HOME comes back with the workspace where it is kept", "[unit][snapshot]") {
  WithHome with;
  const SnapshotRef saved = with.fixture.save().value();
  CHECK(saved.format == 2);
  REQUIRE(saved.objects.size() == 3);
  CHECK(saved.objects[1].key.str().ends_with("/attempt1/home.tar.zst"));
  CHECK(saved.entries == 1 + 4);
  CHECK(saved.content_bytes == 5 + 10 + 11);
  REQUIRE(with.fixture.verify(saved));
  // Whoever restores it need not keep HOME himself.
  with.fixture.keep(Keeps::kWorkspace);
  REQUIRE(with.fixture.restore(saved));
  CHECK(describe_tree(with.fixture.target.path()) == describe_tree(with.fixture.source.path()));
  CHECK(describe_tree(with.target_home) == describe_tree(with.source_home));
  CHECK(with.fixture.target.syncs == 1);

  const auto found = cove::base::sync_wait(
      with.fixture.loop,
      with.fixture.snapshotter->find(cove::test::test_owner().deployment, "", {}));
  REQUIRE(found);
  REQUIRE(found->found.size() == 1);
  CHECK(found->found[0].snapshot == saved);
  CHECK(found->found[0].problem.empty());
  REQUIRE(with.fixture.remove(saved));
  for (const auto& object : saved.objects) CHECK_FALSE(with.fixture.objects.get(object.key.str()));
}

TEST_CASE("Snapshot: a workspace without HOME leaves the volume's HOME empty", "[unit][snapshot]") {
  WithHome with;
  with.fixture.keep(Keeps::kWorkspace);
  const SnapshotRef saved = with.fixture.save().value();
  CHECK(saved.format == 1);
  with.fixture.keep(Keeps::kHomeToo);
  REQUIRE(with.fixture.restore(saved));
  CHECK(std::filesystem::is_empty(with.target_home));
}

TEST_CASE("Snapshot: a volume that has no HOME is told, and nothing is written",
          "[unit][snapshot]") {
  SnapshotFixture without;
  without.keep(Keeps::kHomeToo);
  CHECK(without.save().error().code() == ErrorCode::kUnsupported);
  without.source.add_home();
  const SnapshotRef saved = without.save().value();
  CHECK(without.restore(saved).error().code() == ErrorCode::kUnsupported);
  CHECK(without.target_is_empty());
}

TEST_CASE("Snapshot: damage of either archive is found before the first file is made",
          "[unit][snapshot]") {
  WithHome with;
  const SnapshotRef saved = with.fixture.save().value();
  for (const std::size_t object : {0U, 1U, 2U}) {
    const std::string key = saved.objects[object].key.str();
    const std::string whole = with.fixture.objects.get(key).value();
    std::string damaged = whole;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    with.fixture.objects.remove(key).value();
    with.fixture.objects.put(key, damaged).value();
    CAPTURE(key);
    CHECK(with.fixture.verify(saved).error().code() == ErrorCode::kIntegrity);
    const auto restored = with.fixture.restore(saved);
    REQUIRE_FALSE(restored);
    CHECK_THAT(restored.error().message(), Catch::Contains(key));
    CHECK(with.target_is_empty());
    with.fixture.objects.remove(key).value();
    with.fixture.objects.put(key, whole).value();
  }
  SnapshotRef short_one = saved;
  short_one.objects.erase(short_one.objects.begin() + 1);
  CHECK(with.fixture.verify(short_one).error().code() == ErrorCode::kIntegrity);
  const std::string text = with.fixture.objects.get(saved.objects[2].key.str()).value();
  const auto at = text.find("\"home\"");
  REQUIRE(at != std::string::npos);
  const std::string renamed = text.substr(0, at) + "\"hime\"" + text.substr(at + 6);
  CHECK(cove::snapshot::parse_manifest(renamed).error().code() == ErrorCode::kIntegrity);
}

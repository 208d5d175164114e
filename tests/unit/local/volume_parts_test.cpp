// The parts of a volume: marker, lock, uid ranges, deletion.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/volume/pending_syncs.hpp"
#include "providers/local/volume/tree_removal.hpp"
#include "providers/local/volume/uid_ranges.hpp"
#include "providers/local/volume/volume_lock.hpp"
#include "providers/local/volume/volume_marker.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace cove::local;
namespace fs = std::filesystem;

namespace {

VolumeMarker example_marker() {
  return {{DeploymentId("d"), SandboxId("app-1"), Generation("g")}, UidRange{536'870'912}};
}

base::UniqueFd open_path(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Ranges from ids that every host has, in a registry of their own: nothing runs with them.
struct Registry {
  UidRangesConfig config(std::uint32_t count, std::uint32_t base = 65'536) const {
    return {directory.path() + "/ranges", base, count};
  }
  RangeHolder holder(const std::string& volume, const std::string& path = "/nonexistent") const {
    return {"state-name", path, volume};
  }
  cove::test::TemporaryDirectory directory;
};

bool has_all_ids() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  map >> inside >> outside >> count;
  return inside == 0 && count >= 1'000'000;
}

}  // namespace

TEST_CASE("Volume marker: comes back as it was written", "[unit][local]") {
  const VolumeMarker marker = example_marker();
  const auto read = parse_volume_marker(to_json(marker)).value();
  CHECK(read.volume == marker.volume);
  CHECK(read.range == marker.range);
  VolumeMarker single = marker;
  single.range.reset();
  CHECK_FALSE(parse_volume_marker(to_json(single)).value().range);
  CHECK(id_mapping_of(marker).offset == 536'870'912);
  CHECK(id_mapping_of(single).single);
}

TEST_CASE("Volume marker: what is no marker is refused", "[unit][local]") {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"version":2})", R"({"version":1,"deployment":"d"})",
        R"({"version":1,"deployment":"d","sandbox":"s","generation":"g","first_uid":0})",
        R"({"version":1,"deployment":"d","sandbox":"s","generation":"g","first_uid":-5})",
        R"({"version":1,"deployment":"d","sandbox":"s","generation":"g","first_uid":4294967295})",
        R"({"version":1,"deployment":"d","sandbox":"s","generation":"g","first_uid":"1"})"}) {
    INFO(text);
    CHECK(parse_volume_marker(text).error().code() == ErrorCode::kIntegrity);
  }
}

TEST_CASE("Volume lock: belongs to the open file, one role apart from the other", "[unit][local]") {
  const cove::test::TemporaryDirectory directory;
  const auto at = open_path(directory.path());
  CHECK(VolumeLock::open(*at).error().code() == ErrorCode::kNotFound);
  VolumeLock first = VolumeLock::open(*at, VolumeLock::Missing::kCreate).value();
  const VolumeLock second = VolumeLock::open(*at).value();
  REQUIRE(first.try_take(LockRole::kInstance).value());
  CHECK(first.try_take(LockRole::kInstance).value());
  CHECK_FALSE(second.try_take(LockRole::kInstance).value());
  CHECK(second.is_held_elsewhere(LockRole::kInstance).value());
  CHECK_FALSE(first.is_held_elsewhere(LockRole::kInstance).value());
  CHECK(second.try_take(LockRole::kOperation).value());
  const base::UniqueFd inherited(::dup(first.fd()));
  first = VolumeLock();
  CHECK(second.is_held_elsewhere(LockRole::kInstance).value());
  const_cast<base::UniqueFd&>(inherited).reset();
  CHECK_FALSE(second.is_held_elsewhere(LockRole::kInstance).value());
}

TEST_CASE("Uid ranges: never overlap, and come back", "[unit][local]") {
  if (!has_all_ids()) return cove::test::skip("this user namespace has not all ids");
  const Registry registry;
  const UidRanges ranges(registry.config(3));
  const UidRange a = ranges.allocate(registry.holder("d/s/a")).value();
  const UidRange b = ranges.allocate(registry.holder("d/s/b")).value();
  CHECK(a.first == 65'536);
  CHECK(b.first == 131'072);
  CHECK(ranges.find(registry.holder("d/s/b")).value() == b);
  CHECK_FALSE(ranges.find(registry.holder("d/s/c")).value());
  CHECK(ranges.confirm(a, registry.holder("d/s/a")).value());
  CHECK_FALSE(ranges.confirm(a, registry.holder("d/s/b")).value());
  // Another base whose ranges would lie across those given out.
  const UidRanges shifted(registry.config(3, 65'536 + 1000));
  CHECK(shifted.allocate(registry.holder("d/s/c")).value().first == 65'536 + 1000 + 2 * 65'536);
  REQUIRE(ranges.release(a, registry.holder("d/s/b")));  // not its own: stays
  CHECK(ranges.confirm(a, registry.holder("d/s/a")).value());
  REQUIRE(ranges.release(a, registry.holder("d/s/a")));
  CHECK(ranges.allocate(registry.holder("d/s/e")).value() == a);
}

TEST_CASE("Uid ranges: a lost entry is written again, a taken one is not", "[unit][local]") {
  const Registry registry;
  const UidRanges ranges(registry.config(2));
  const UidRange range{65'536};
  CHECK(ranges.confirm(range, registry.holder("d/s/a")).value());
  CHECK_FALSE(ranges.confirm(range, registry.holder("d/s/b")).value());
  CHECK_FALSE(ranges.confirm(UidRange{65'540}, registry.holder("d/s/b")).value());
}

TEST_CASE("Uid ranges: when all are given out, those of deleted state directories are taken",
          "[unit][local]") {
  if (!has_all_ids()) return cove::test::skip("this user namespace has not all ids");
  const Registry registry;
  const std::string state = registry.directory.path() + "/state";
  fs::create_directories(state + "/volumes/d/s/a");
  std::ofstream(state + "/node") << "state-name";
  const UidRanges ranges(registry.config(2));
  const UidRange a = ranges.allocate(registry.holder("d/s/a", state)).value();
  const UidRange b = ranges.allocate(registry.holder("d/s/b", state + "-gone")).value();
  const UidRange c = ranges.allocate(registry.holder("d/s/c", state)).value();
  CHECK(c == b);
  fs::create_directories(state + "/volumes/d/s/.dead-c");
  CHECK(ranges.allocate(registry.holder("d/s/e", state)).error().code() ==
        ErrorCode::kQuotaExceeded);
  CHECK(ranges.confirm(a, registry.holder("d/s/a", state)).value());
}

TEST_CASE("Uid ranges: one whose claim never reached the disk is taken when no other is free",
          "[unit][local]") {
  if (!has_all_ids()) return cove::test::skip("this user namespace has not all ids");
  const Registry registry;
  const UidRanges ranges(registry.config(2));
  const UidRange a = ranges.allocate(registry.holder("d/s/a")).value();
  fs::resize_file(registry.config(2).directory + "/" + std::to_string(a.first), 0);
  const UidRange b = ranges.allocate(registry.holder("d/s/b")).value();
  CHECK(b != a);
  CHECK(ranges.allocate(registry.holder("d/s/c")).value() == a);
  CHECK(ranges.confirm(a, registry.holder("d/s/c")).value());
}

TEST_CASE("Volume marker: one that never reached the disk counts as none", "[unit][local]") {
  const cove::test::TemporaryDirectory directory;
  std::ofstream(directory.path() + "/marker").flush();
  const auto opened = open_directory(AT_FDCWD, directory.path());
  CHECK(read_marker(**opened).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Pending syncs: a wait ends when all is on the disk, and an error of any stays",
          "[unit][local]") {
  const cove::test::TemporaryDirectory directory;
  base::InlineExecutor executor;
  base::IoLoop loop;
  PendingSyncs syncs(executor, loop);
  const CallContext call;
  const VolumeRef volume{DeploymentId("d"), SandboxId("s"), Generation("g")};
  const auto opened = [&] {
    return base::UniqueFd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  };
  const auto begin = [&](std::vector<base::UniqueFd> files) {
    const auto begun = base::sync_wait(
        loop,
        [](PendingSyncs& on, VolumeRef of, std::vector<base::UniqueFd> what) -> Task<Result<void>> {
          on.begin(of, std::move(what));
          co_return ok();
        }(syncs, volume, std::move(files)));
    REQUIRE(begun);
  };
  const auto wait = [&] { return base::sync_wait(loop, syncs.wait(volume, call)); };
  CHECK(wait());  // nothing was begun
  std::vector<base::UniqueFd> files;
  files.push_back(opened());
  files.push_back(opened());
  begin(std::move(files));
  CHECK(wait());
  CHECK(wait());
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const base::UniqueFd writer(ends[1]);
  std::vector<base::UniqueFd> with_pipe;  // nothing that a disk could hold
  with_pipe.push_back(opened());
  with_pipe.emplace_back(ends[0]);
  with_pipe.push_back(opened());
  begin(std::move(with_pipe));
  for (int i = 0; i < 2; ++i) {
    const auto failed = wait();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message().find("sync a new volume") != std::string::npos);
  }
  std::vector<base::UniqueFd> again;
  again.push_back(opened());
  begin(std::move(again));
  CHECK(wait());
}

TEST_CASE("Tree removal: deletes links, not what they lead to, at any depth", "[unit][local]") {
  const cove::test::TemporaryDirectory directory;
  const auto at = open_path(directory.path());
  fs::create_directories(directory.path() + "/kept");
  std::ofstream(directory.path() + "/kept/file") << "x";
  fs::create_directories(directory.path() + "/tree/a/b");
  fs::create_directory_symlink("../kept", directory.path() + "/tree/link");
  fs::create_directory_symlink("/", directory.path() + "/tree/a/root");
  std::ofstream(directory.path() + "/tree/.removed-0") << "a name of ours";
  base::UniqueFd deep = open_path(directory.path() + "/tree/a/b");
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(::mkdirat(*deep, "d", 0700) == 0);
    deep.reset(::openat(*deep, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  REQUIRE(remove_tree(*at, "tree"));
  CHECK_FALSE(fs::exists(directory.path() + "/tree"));
  CHECK(fs::exists(directory.path() + "/kept/file"));
  CHECK(remove_tree(*at, "tree"));
  fs::create_directory_symlink("kept", directory.path() + "/link");
  CHECK_FALSE(remove_tree(*at, "link"));
  CHECK(fs::exists(directory.path() + "/kept/file"));
}

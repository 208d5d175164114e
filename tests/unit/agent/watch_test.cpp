#include <algorithm>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/watch/directory_watch.hpp"
#include "support/skip.hpp"
#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
namespace fs = std::filesystem;
using cove::agent::testing::WorkspaceFixture;

namespace {

class WatchFixture : public WorkspaceFixture {
 public:
  void begin(const std::string& path = "", const WatchOptions& options = {}) {
    watch = files().begin_watch({"", path}, options).value();
  }

  /// What is told until nothing more comes; inotify's events are there when the change is.
  std::vector<FileEvent> events() {
    std::vector<FileEvent> all;
    for (;;) {
      auto some = watch->read().value();
      if (some.empty()) return all;
      all.insert(all.end(), some.begin(), some.end());
    }
  }

  static bool has(const std::vector<FileEvent>& events, FileChange change, const std::string& path,
                  const std::string& old_path = "") {
    return std::any_of(events.begin(), events.end(), [&](const FileEvent& event) {
      return event.change == change && event.path == path && event.old_path == old_path;
    });
  }

  std::unique_ptr<DirectoryWatch> watch;
};

}  // namespace

TEST_CASE("Watch: files that come, change, move and go are told", "[unit][agent][files]") {
  WatchFixture f;
  f.put(f.workspace() / "d/old", "x");
  f.begin();
  CHECK(f.events().empty());
  f.put(f.workspace() / "d/new\xff", "x");
  fs::rename(f.workspace() / "d/old", f.workspace() / "moved");
  fs::permissions(f.workspace() / "moved", fs::perms::owner_read);
  fs::remove(f.workspace() / "d/new\xff");
  const auto events = f.events();
  CHECK(f.has(events, FileChange::kCreated, "d/new\xff"));
  CHECK(f.has(events, FileChange::kModified, "d/new\xff"));
  CHECK(f.has(events, FileChange::kMoved, "moved", "d/old"));
  CHECK(f.has(events, FileChange::kAttributes, "moved"));
  CHECK(f.has(events, FileChange::kRemoved, "d/new\xff"));
}

TEST_CASE("Watch: a file without a name is not told of, one named like it is",
          "[unit][agent][files]") {
  WatchFixture f;
  f.put(f.workspace() / "#12", "x");
  f.begin();
  const base::UniqueFd unnamed(
      ::open(f.workspace().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
  REQUIRE(unnamed);
  REQUIRE(::write(*unnamed, "x", 1) == 1);
  REQUIRE(::fchmod(*unnamed, 0600) == 0);
  CHECK(f.events().empty());
  f.put(f.workspace() / "#12", "y");
  CHECK(f.has(f.events(), FileChange::kModified, "#12"));
}

TEST_CASE("Watch: a file that Cove writes is one change, without what it was made from",
          "[unit][agent][files]") {
  WatchFixture f;
  f.put(f.workspace() / "a.txt", "old");
  f.begin();
  REQUIRE(f.write("a.txt", "anew"));
  REQUIRE(f.write("new.txt", "new"));
  const auto events = f.events();
  CHECK(f.has(events, FileChange::kModified, "a.txt"));
  CHECK(f.has(events, FileChange::kModified, "new.txt"));
  for (const FileEvent& event : events) {
    INFO(event.path << " from " << event.old_path);
    CHECK((event.path == "a.txt" || event.path == "new.txt"));
    CHECK(event.old_path.empty());
  }
}

TEST_CASE("Watch: a directory that appears is watched with what is in it already",
          "[unit][agent][files]") {
  WatchFixture f;
  f.begin();
  f.put(f.workspace() / "a/b/c/file", "x");
  auto events = f.events();
  CHECK(f.has(events, FileChange::kCreated, "a"));
  CHECK(f.has(events, FileChange::kCreated, "a/b/c/file"));
  f.put(f.workspace() / "a/b/c/second", "x");
  CHECK(f.has(f.events(), FileChange::kCreated, "a/b/c/second"));
  f.put(f.outside() / "tree/deep/file", "x");
  fs::rename(f.outside() / "tree", f.workspace() / "tree");
  events = f.events();
  CHECK(f.has(events, FileChange::kCreated, "tree"));
  CHECK(f.has(events, FileChange::kCreated, "tree/deep/file"));
}

TEST_CASE("Watch: a directory that moved is told of by its new path, one that left by none",
          "[unit][agent][files]") {
  WatchFixture f;
  f.put(f.workspace() / "a/b/file", "x");
  f.begin();
  fs::rename(f.workspace() / "a", f.workspace() / "z");
  CHECK(f.has(f.events(), FileChange::kMoved, "z", "a"));
  f.put(f.workspace() / "z/b/file", "changed");
  CHECK(f.has(f.events(), FileChange::kModified, "z/b/file"));
  fs::rename(f.workspace() / "z", f.outside() / "z");
  CHECK(f.has(f.events(), FileChange::kRemoved, "z"));
  f.put(f.outside() / "z/b/file", "elsewhere");
  CHECK(f.events().empty());
}

TEST_CASE("Watch: a removed tree is told, and its name is watched when it comes again",
          "[unit][agent][files]") {
  WatchFixture f;
  f.put(f.workspace() / "a/b/file", "x");
  f.begin();
  fs::remove_all(f.workspace() / "a");
  CHECK(f.has(f.events(), FileChange::kRemoved, "a"));
  f.put(f.workspace() / "a/file", "x");
  CHECK(f.has(f.events(), FileChange::kCreated, "a/file"));
  f.put(f.workspace() / "a/more", "x");
  CHECK(f.has(f.events(), FileChange::kCreated, "a/more"));
}

TEST_CASE("Watch: not recursive, only the directory's own entries are told",
          "[unit][agent][files]") {
  WatchFixture f;
  f.put(f.workspace() / "d/file", "x");
  f.begin("", {.recursive = false});
  f.put(f.workspace() / "d/second", "x");
  f.put(f.workspace() / "own", "x");
  const auto events = f.events();
  CHECK(f.has(events, FileChange::kCreated, "own"));
  CHECK_FALSE(f.has(events, FileChange::kCreated, "d/second"));
}

TEST_CASE("Watch: more directories than allowed are a clear error", "[unit][agent][files]") {
  WatchFixture f;
  for (int i = 0; i < 5; ++i) fs::create_directory(f.workspace() / std::to_string(i));
  const auto refused = f.files().begin_watch({"", ""}, {.max_directories = 5});
  CHECK(f.code_of(refused) == ErrorCode::kQuotaExceeded);
  f.begin("", {.max_directories = 6});
  fs::create_directory(f.workspace() / "new");
  CHECK(f.code_of(f.watch->read()) == ErrorCode::kQuotaExceeded);
  CHECK(f.code_of(f.files().begin_watch({"", ""}, {.max_directories = 0})) ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("Watch: the end of the watched directory is told, and ends the watch",
          "[unit][agent][files]") {
  WatchFixture f;
  fs::create_directory(f.workspace() / "d");
  f.begin("d");
  fs::remove(f.workspace() / "d");
  CHECK(f.has(f.watch->read().value(), FileChange::kRemoved, ""));
  CHECK(f.code_of(f.watch->read()) == ErrorCode::kNotFound);
  CHECK(f.code_of(f.files().begin_watch({"", "d"}, {})) == ErrorCode::kNotFound);
  CHECK(f.code_of(f.files().begin_watch({"", "../outside"}, {})) == ErrorCode::kPathEscape);
}

TEST_CASE("Watch: lost events are told, and new directories are watched all the same",
          "[unit][agent][files]") {
  WatchFixture f;
  f.begin();
  std::size_t limit = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  if (limit == 0 || limit > 100'000) {
    return test::skip("fs.inotify.max_queued_events is " + std::to_string(limit) +
                      ": too many to lose one");
  }
  const std::string one = (f.workspace() / "one").string();
  for (std::size_t i = 0; i <= limit / 2; ++i) {  // different events are not merged
    REQUIRE(::mknod(one.c_str(), S_IFREG | 0600, 0) == 0);
    REQUIRE(::unlink(one.c_str()) == 0);
  }
  f.put(f.workspace() / "lost/file", "x");
  const auto events = f.events();
  CHECK(f.has(events, FileChange::kOverflow, ""));
  f.put(f.workspace() / "lost/second", "x");
  CHECK(f.has(f.events(), FileChange::kCreated, "lost/second"));
}

// What a program inside can do while the agent resolves a path: swap names as fast as it can.
#include <atomic>
#include <thread>

#include "unit/agent/workspace_fixture.hpp"

using cove::ErrorCode;
using cove::agent::testing::WorkspaceFixture;
namespace fs = std::filesystem;

namespace {

constexpr int kTries = 10'000;

/// Swaps two names of a directory until it ends.
class Swapper {
 public:
  Swapper(const fs::path& one, const fs::path& other)
      : thread_([this, one, other] {
          while (!stop_) {
            ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
            ++swaps_;
          }
        }) {}
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;
  ~Swapper() {
    stop_ = true;
    thread_.join();
  }
  int swaps() const { return swaps_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> swaps_{0};
  std::thread thread_;
};

/// Every refusal that a swap at the wrong moment may cause.
bool is_fair(ErrorCode code) {
  return code == ErrorCode::kPathEscape || code == ErrorCode::kConflict ||
         code == ErrorCode::kNotFound || code == ErrorCode::kFailedPrecondition;
}

}  // namespace

TEST_CASE("Path race: a directory that turns into a link out never leads a read out",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a/b/passwd", "inside");
  w.put(w.outside() / "passwd", "outside");
  fs::create_directory_symlink(w.outside(), w.workspace() / "a/link");
  const Swapper swapper(w.workspace() / "a/b", w.workspace() / "a/link");
  int inside = 0;
  int refused = 0;
  for (int i = 0; i < kTries || inside == 0 || refused == 0; ++i) {
    const auto text = w.read(i % 2 == 0 ? "a/b/passwd" : "a/b/../b/passwd");
    if (text) {
      REQUIRE(*text == "inside");
      ++inside;
    } else {
      REQUIRE(is_fair(text.error().code()));
      ++refused;
    }
  }
  CHECK(swapper.swaps() > 0);
}

TEST_CASE("Path race: a directory that turns into a link out never leads a change out",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  fs::create_directories(w.workspace() / "a/b");
  fs::create_directory_symlink(w.outside(), w.workspace() / "a/link");
  const Swapper swapper(w.workspace() / "a/b", w.workspace() / "a/link");
  int written = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto info = w.write("a/b/new/file", "x");
    if (info) ++written;
    if (!info) REQUIRE(is_fair(info.error().code()));
    const auto removed = w.files().remove({"", "a/b/secret"}, true);
    REQUIRE_FALSE(removed);
    REQUIRE(is_fair(removed.error().code()));
  }
  CHECK(written > 0);
  CHECK(fs::exists(w.outside() / "secret"));
  CHECK_FALSE(fs::exists(w.outside() / "new"));
}

TEST_CASE("Path race: a file that turns into a link out is not followed",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "file", "inside");
  fs::create_symlink(w.outside() / "secret", w.workspace() / "link");
  const Swapper swapper(w.workspace() / "file", w.workspace() / "link");
  for (int i = 0; i < kTries; ++i) {
    const auto text = w.read("file");
    if (text) REQUIRE(*text == "inside");
    if (!text) REQUIRE(is_fair(text.error().code()));
  }
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("Path race: a tree that is removed while links out come and go loses only itself",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  fs::create_directories(w.outside() / "keep");
  fs::create_directory_symlink(w.outside(), w.workspace() / "link");
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 5; ++i) {
      w.put(w.workspace() / "tree" / std::to_string(i) / "deep" / "secret", "x");
    }
    const Swapper swapper(w.workspace() / "tree/3", w.workspace() / "link");
    const auto removed = w.files().remove({"", "tree"}, true);
    if (!removed) REQUIRE(is_fair(removed.error().code()));
  }
  CHECK(w.get(w.outside() / "secret") == "outside");
  CHECK(fs::exists(w.outside() / "keep"));
}

TEST_CASE("Path race: a tree that others keep filling is removed, or given up",
          "[unit][agent][threads]") {
  const WorkspaceFixture w;
  fs::create_directories(w.workspace() / "tree/d");
  std::atomic<bool> stop{false};
  std::thread creator([&] {
    for (int i = 0; !stop; ++i) {
      const fs::path path = w.workspace() / "tree/d" / std::to_string(i % 100);
      std::error_code ignored;
      fs::create_directories(path, ignored);
    }
  });
  for (int round = 0; round < 50; ++round) {
    const auto removed = w.files().remove({"", "tree"}, true);
    if (!removed && removed.error().code() != ErrorCode::kConflict &&
        removed.error().code() != ErrorCode::kNotFound) {
      FAIL_CHECK(removed.error().describe());
    }
  }
  stop = true;
  creator.join();
  if (fs::exists(w.workspace() / "tree")) REQUIRE(w.files().remove({"", "tree"}, true));
  CHECK(w.names().empty());
}

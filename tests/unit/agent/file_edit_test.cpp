// Edits and conditional writes of real files.
#include <atomic>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "base/system/system_error.hpp"
#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using cove::agent::testing::make_disk;
using cove::agent::testing::WorkspaceFixture;

namespace {

Result<EditResult> edit(const WorkspaceFixture& w, const std::string& path,
                        const std::vector<Edit>& edits, const EditOptions& options = {}) {
  return w.files().edit({"", path}, edits, options);
}

}  // namespace

TEST_CASE("Files: an edit keeps the mode and gives the new etag", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "run.sh", "echo one\n");
  REQUIRE(::chmod((w.workspace() / "run.sh").c_str(), 0755) == 0);
  const std::string before = w.files().stat({"", "run.sh"}).value().etag;
  const auto result = edit(w, "run.sh", {{"one", "two"}}).value();
  CHECK(w.get(w.workspace() / "run.sh") == "echo two\n");
  CHECK(result.info.mode == 0755);
  CHECK(result.info.path == "run.sh");
  CHECK(result.info.etag != before);
  CHECK(result.info.etag == w.files().stat({"", "run.sh"}).value().etag);
  CHECK(w.names() == std::vector<std::string>{"run.sh"});
}

TEST_CASE("Files: edits are all or none", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "one two\n");
  CHECK(w.code_of(edit(w, "a", {{"one", "1"}, {"three", "3"}})) == ErrorCode::kFailedPrecondition);
  CHECK(w.get(w.workspace() / "a") == "one two\n");
  CHECK(w.names() == std::vector<std::string>{"a"});
}

TEST_CASE("Files: an edit of a changed, missing, large or odd file is refused",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "one\n");
  const std::string etag = w.files().stat({"", "a"}).value().etag;
  REQUIRE(edit(w, "a", {{"one", "two"}}, {.if_unchanged_since = etag}));
  const auto stale = edit(w, "a", {{"two", "three"}}, {.if_unchanged_since = etag});
  CHECK(w.code_of(stale) == ErrorCode::kConflict);
  CHECK_THAT(stale.error().message(), Contains(etag));
  CHECK_THAT(stale.error().message(), Contains(w.files().stat({"", "a"}).value().etag));
  CHECK(w.code_of(edit(w, "none", {{"a", "b"}})) == ErrorCode::kNotFound);
  CHECK(w.code_of(edit(w, "", {{"a", "b"}})) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(edit(w, "../outside/secret", {{"a", "b"}})) == ErrorCode::kPathEscape);
  fs::create_symlink("../outside/secret", w.workspace() / "out");
  CHECK(w.code_of(edit(w, "out", {{"outside", "b"}})) == ErrorCode::kPathEscape);
  REQUIRE(::mkfifo((w.workspace() / "fifo").c_str(), 0600) == 0);
  CHECK(w.code_of(edit(w, "fifo", {{"a", "b"}})) == ErrorCode::kFailedPrecondition);
  w.put(w.workspace() / "large", "x");
  REQUIRE(::truncate((w.workspace() / "large").c_str(), (64 << 20) + 1) == 0);
  CHECK(w.code_of(edit(w, "large", {{"x", "y"}})) == ErrorCode::kTooLarge);
}

TEST_CASE("Files: an edit goes through a link inside and leaves the link", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "d/real", "one");
  fs::create_symlink("/workspace/d/real", w.workspace() / "link");
  REQUIRE(edit(w, "link", {{"one", "two"}}));
  CHECK(fs::is_symlink(w.workspace() / "link"));
  CHECK(w.get(w.workspace() / "d/real") == "two");
}

TEST_CASE("Files: edits of one file at once all apply, and none is lost",
          "[unit][agent][files][threads]") {
  const WorkspaceFixture w;
  constexpr int kThreads = 4;
  constexpr int kEdits = 50;
  std::string text;
  for (int i = 0; i < kThreads * kEdits; ++i) text += "<" + std::to_string(i) + ">\n";
  w.put(w.workspace() / "shared", text);
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEdits; ++i) {
        const std::string number = std::to_string(t * kEdits + i);
        if (!edit(w, "shared", {{"<" + number + ">", "[" + number + "]"}})) ++failed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failed == 0);
  const std::string after = w.get(w.workspace() / "shared");
  CHECK(after.find('<') == std::string::npos);
  CHECK(after.size() == text.size());
}

TEST_CASE("Files: of writers with the same etag exactly one wins",
          "[unit][agent][files][threads]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "start");
  for (int round = 0; round < 20; ++round) {
    const std::string etag = w.files().stat({"", "a"}).value().etag;
    std::atomic<int> won = 0;
    std::atomic<int> lost = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const std::string content(1000 + static_cast<std::size_t>(t), static_cast<char>('a' + t));
        const auto written = w.write("a", content, {.if_unchanged_since = etag});
        if (written) ++won;
        if (!written && written.error().code() == ErrorCode::kConflict) ++lost;
      });
    }
    for (auto& thread : threads) thread.join();
    REQUIRE(won == 1);
    REQUIRE(lost == 3);
    const std::string content = w.get(w.workspace() / "a");
    REQUIRE(content.size() == 1000U + static_cast<unsigned>(content[0] - 'a'));
    REQUIRE(content.find_first_not_of(content[0]) == std::string::npos);
  }
}

TEST_CASE("Files: a file that must not be there is made once", "[unit][agent][files][threads]") {
  const WorkspaceFixture w;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto written = w.write("new", "x", {.if_absent = true});
      if (written) ++made;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(w.code_of(w.write("new", "y", {.if_absent = true})) == ErrorCode::kAlreadyExists);
  CHECK(w.code_of(w.write("gone", "y", {.if_unchanged_since = "1-2-3"})) == ErrorCode::kConflict);
  CHECK(w.names() == std::vector<std::string>{"new"});
}

TEST_CASE("Files: appends of many writers stay whole", "[unit][agent][files][threads]") {
  const WorkspaceFixture w;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string line = std::string(5000, static_cast<char>('a' + t)) + "\n";
        if (!w.write("log", line, {.append = true})) ++failed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failed == 0);
  const std::string log = w.get(w.workspace() / "log");
  REQUIRE(log.size() == 100U * 5001);
  for (std::size_t at = 0; at < log.size(); at += 5001) {
    REQUIRE(log.find_first_not_of(log[at], at) == at + 5000);
  }
  CHECK(w.files().stat({"", "log"}).value().mode == 0644);
}

TEST_CASE("Files: an append keeps the file's mode, follows the rule and has a limit",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "one");
  REQUIRE(::chmod((w.workspace() / "a").c_str(), 0600) == 0);
  const auto info = w.write("a", " two", {.append = true}).value();
  CHECK(info.size == 7);
  CHECK(info.mode == 0600);
  CHECK(w.get(w.workspace() / "a") == "one two");
  CHECK(w.code_of(w.write("a", std::string((16U << 20U) + 1, 'x'), {.append = true})) ==
        ErrorCode::kTooLarge);
  fs::create_symlink("../outside/secret", w.workspace() / "out");
  CHECK(w.code_of(w.write("out", "x", {.append = true})) == ErrorCode::kPathEscape);
  REQUIRE(::mkfifo((w.workspace() / "fifo").c_str(), 0600) == 0);
  CHECK(w.code_of(w.write("fifo", "x", {.append = true})) == ErrorCode::kFailedPrecondition);
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("Files: on a full disk an edit and an append leave the file as it was [pain-76]",
          "[unit][agent][files]") {
  base::UniqueFd root = make_disk("1m");
  if (!root) return;  // this user may not make a file system
  const std::string path = "/proc/self/fd/" + std::to_string(*root);
  const Files files(base::UniqueFd(::fcntl(*root, F_DUPFD_CLOEXEC, 0)), "/workspace");
  WorkspaceFixture::put(path + "/a", std::string(600'000, 'x') + "end");
  const auto edited = files.edit({"", "a"}, {{"end", std::string(10, 'y')}}, {});
  REQUIRE_FALSE(edited);
  CHECK(edited.error().code() == ErrorCode::kQuotaExceeded);
  const auto writer = files.begin_write({"", "a"}, {.append = true}).value();
  REQUIRE(writer->write(cove::agent::testing::bytes_of(std::string(900'000, 'z'))));
  const auto appended = writer->commit();
  REQUIRE_FALSE(appended);
  CHECK(appended.error().code() == ErrorCode::kQuotaExceeded);
  CHECK(WorkspaceFixture::get(path + "/a") == std::string(600'000, 'x') + "end");
  CHECK(files.list({"", ""}, {}).value().entries.size() == 1);
}

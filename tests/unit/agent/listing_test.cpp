// Recursive lists: order, pages, depth, and trees that are hard to walk.
#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
namespace fs = std::filesystem;
using cove::agent::testing::WorkspaceFixture;

namespace {

std::vector<std::string> paths(const FilePage& page) {
  std::vector<std::string> paths;
  for (const FileInfo& entry : page.entries) paths.push_back(entry.path);
  return paths;
}

/// All entries, by pages of `limit`.
std::vector<std::string> walk(const Files& files, const std::string& path, std::uint32_t depth,
                              std::uint32_t limit) {
  std::vector<std::string> all;
  ListOptions options{.after = "", .limit = limit, .depth = depth};
  for (;;) {
    const FilePage page = files.list({"", path}, options).value();
    for (const std::string& entry : paths(page)) all.push_back(entry);
    if (page.next.empty()) return all;
    options.after = page.next;
  }
}

}  // namespace

TEST_CASE("List: a tree comes depth first in the order of bytes, whatever the pages",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  for (const char* file : {"a/b/c", "a/b.txt", "a/z", "a.txt", "b/x", "\xff/y"}) {
    w.put(w.workspace() / file, "");
  }
  fs::create_directory(w.workspace() / "c");
  fs::create_directory_symlink("/workspace/a", w.workspace() / "link");
  const std::vector<std::string> all{"a", "a/b", "a/b/c", "a/b.txt", "a/z",  "a.txt",
                                     "b", "b/x", "c",     "link",    "\xff", "\xff/y"};
  for (const std::uint32_t limit : {1U, 2U, 3U, 5U, 100U}) {
    CHECK(walk(w.files(), "", 0, limit) == all);
  }
  CHECK(walk(w.files(), "", 1, 2) ==
        std::vector<std::string>{"a", "a.txt", "b", "c", "link", "\xff"});
  CHECK(walk(w.files(), "", 2, 2) == std::vector<std::string>{"a", "a/b", "a/b.txt", "a/z", "a.txt",
                                                              "b", "b/x", "c", "link", "\xff",
                                                              "\xff/y"});
}

TEST_CASE("List: a page goes on behind what is gone meanwhile", "[unit][agent][files]") {
  const WorkspaceFixture w;
  for (const char* file : {"a/1", "a/2", "b/1", "c"}) w.put(w.workspace() / file, "");
  fs::remove_all(w.workspace() / "a");
  const FilePage page = w.files().list({"", ""}, {.after = "a/1", .depth = 0}).value();
  CHECK(paths(page) == std::vector<std::string>{"b", "b/1", "c"});
}

TEST_CASE("List: a place to go on from cannot lead out", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "");
  for (const char* after : {"..", "../outside", "a/../..", "./a"}) {
    CHECK(w.code_of(w.files().list({"", ""}, {.after = after, .depth = 0})) ==
          ErrorCode::kInvalidArgument);
  }
  fs::create_directory_symlink("../outside", w.workspace() / "link");
  const FilePage page = w.files().list({"", ""}, {.after = "link/a", .depth = 0}).value();
  CHECK(page.entries.empty());
}

TEST_CASE("List: a directory that may not be read is listed and marked", "[unit][agent][files]") {
  if (::getuid() == 0) return;  // root reads everything
  const WorkspaceFixture w;
  w.put(w.workspace() / "closed/secret", "");
  w.put(w.workspace() / "open/file", "");
  fs::permissions(w.workspace() / "closed", fs::perms::none);
  const FilePage page = w.files().list({"", ""}, {.depth = 0}).value();
  fs::permissions(w.workspace() / "closed", fs::perms::owner_all);
  CHECK(paths(page) == std::vector<std::string>{"closed", "open", "open/file"});
  CHECK(page.entries[0].unreadable);
  CHECK_FALSE(page.entries[1].unreadable);
}

TEST_CASE("List: 100,000 files in many directories come each once, in order",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  base::UniqueFd root = testing::make_disk("512m");
  if (!root) root = testing::open_directory_at(w.workspace());
  const Files files(base::UniqueFd(::fcntl(*root, F_DUPFD_CLOEXEC, 0)), "/workspace");
  constexpr int kDirectories = 100;
  constexpr int kFiles = 1000;
  for (int d = 0; d < kDirectories; ++d) {
    const std::string name = "d" + std::to_string(d);
    REQUIRE(::mkdirat(*root, name.c_str(), 0755) == 0);
    const base::UniqueFd directory(::openat(*root, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (int f = 0; f < kFiles; ++f) {
      if (::mknodat(*directory, std::to_string(f).c_str(), S_IFREG | 0644, 0) != 0) FAIL(errno);
    }
  }
  std::size_t seen = 0;
  std::string last;
  bool sorted = true;
  const auto key = [](std::string path) {  // a slash sorts before every byte of a name
    std::replace(path.begin(), path.end(), '/', '\1');
    return path;
  };
  for (ListOptions options{.after = "", .limit = 10'000, .depth = 0};;) {
    const FilePage page = files.list({"", ""}, options).value();
    for (const FileInfo& entry : page.entries) {
      sorted = sorted && key(entry.path) > key(last);
      last = entry.path;
    }
    seen += page.entries.size();
    if (page.next.empty()) break;
    options.after = page.next;
  }
  CHECK(seen == kDirectories * (kFiles + 1));
  CHECK(sorted);
}

TEST_CASE("List: a tree deeper than PATH_MAX is listed to its end", "[unit][agent][files]") {
  const WorkspaceFixture w;
  const std::string name(200, 'n');
  std::string path;
  constexpr int kDepth = 60;  // 12,000 bytes
  for (int i = 0; i < kDepth; ++i) {
    path += (path.empty() ? "" : "/") + name;
  }
  REQUIRE(w.files().make_directory({"", path}));
  const auto all = walk(w.files(), "", 0, 7);
  REQUIRE(all.size() == kDepth);
  CHECK(all.back() == path);
  CHECK(w.files().remove({"", name}, true));
}

TEST_CASE("List: hostile names come as they are", "[unit][agent][files]") {
  const WorkspaceFixture w;
  const std::vector<std::string> names{"\n",      " ", "-rf", "\"", "\\x41", std::string(255, 'x'),
                                       "\xc3\x28"};
  for (const std::string& name : names) w.put(w.workspace() / name, "");
  auto listed = walk(w.files(), "", 0, 2);
  auto expected = names;
  std::sort(expected.begin(), expected.end());
  CHECK(listed == expected);
  for (const std::string& name : names) CHECK(w.files().stat({"", name}));
  CHECK(w.code_of(w.files().stat({"", std::string(256, 'x')})) == ErrorCode::kInvalidArgument);
}

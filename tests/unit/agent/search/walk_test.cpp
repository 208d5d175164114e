#include <atomic>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "search_fixture.hpp"

using namespace cove;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using agent::FindSearch;
using agent::GrepSearch;
using agent::testing::Names;
using agent::testing::SearchFixture;
using agent::testing::SearchListener;

namespace {

std::string padded(int number) {
  std::string text = std::to_string(number);
  return std::string(5 - std::min<std::size_t>(text.size(), 5), '0') + text;
}

/// 4,000 files in one deep directory: their paths, 12 MB, are more than a search holds of what
/// nobody takes.
void put_deep(const SearchFixture& tree) {
  std::string directory;
  for (int i = 0; i < 15; ++i) directory += std::string(200, 'd') + "/";
  for (int i = 0; i < 4'000; ++i) tree.put(directory + padded(i), "word\n");
}

/// Takes 100 results of a search and no more, stops it then, and takes what it still has.
template <class Unpack>
void check_first_100(agent::Search& search, SearchListener& listener, Unpack unpack) {
  REQUIRE(search.start());
  std::size_t count = 0;
  while (count < 100) {
    REQUIRE_FALSE(search.ending());
    listener.wait_output();
    while (count < 100) {
      const auto bytes = search.next_output(256 * 1024);
      if (!bytes) break;
      count += unpack(*bytes).value().size();
    }
  }
  CHECK(count < 1'000);
  search.stop(SearchEnd::kCancelled);
  while (const auto bytes = search.next_output(256 * 1024)) count += unpack(*bytes).value().size();
  const auto ending = search.ending();
  REQUIRE(ending);
  // A walk that had been over by then would be complete: only the first ending counts.
  CHECK(ending->value().ended == SearchEnd::kCancelled);
  CHECK(ending->value().matches == count);
  CHECK(ending->value().files_searched < 4'000);
  listener.wait_done();
}

/// 40 directories of 25 files each, three levels deep.
void put_tree(const SearchFixture& tree) {
  for (int i = 0; i < 1'000; ++i) {
    tree.put("d" + std::to_string(i % 8) + "/e" + std::to_string(i % 5) + "/f" + padded(i),
             "a word\nand no\nword again " + std::to_string(i) + "\n");
  }
}

}  // namespace

TEST_CASE("Walk: results come depth first, in the order of the names' bytes, with any threads",
          "[unit][search][threads]") {
  SearchFixture tree;
  tree.put("b", "word");
  tree.put("a/z", "word");
  tree.put("a.txt", "word");
  tree.put("a-b/y", "word");
  tree.put("B", "word");
  tree.put("\xff", "word");
  tree.put("c/d/e", "word");
  tree.put("c/d.x", "word");
  const Names expected{"B", "a/z", "a-b/y", "a.txt", "b", "c/d/e", "c/d.x", "\xff"};
  for (const unsigned threads : {1U, 2U, 4U}) {
    tree.set_threads(threads);
    CHECK(tree.files({.pattern = "word"}) == expected);
  }
}

TEST_CASE("Walk: the same search gives the same results in the same order every time",
          "[unit][search][threads]") {
  SearchFixture tree;
  put_tree(tree);
  tree.set_threads(1);
  const auto once = tree.places({.pattern = "word", .limit = std::nullopt});
  CHECK(once.size() == 2'000);
  const auto names = tree.paths({.limit = std::nullopt});
  CHECK(names.size() == 1'048);
  tree.set_threads(4);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(tree.places({.pattern = "word", .limit = std::nullopt}) == once);
    REQUIRE(tree.paths({.limit = std::nullopt}) == names);
  }
  const Names first(once.begin(), once.begin() + 77);
  for (int i = 0; i < 10; ++i) REQUIRE(tree.places({.pattern = "word", .limit = 77}) == first);
}

TEST_CASE("Walk: links are not followed, FIFOs and sockets not waited for", "[unit][search]") {
  SearchFixture tree;
  tree.put("real/f", "word");
  fs::create_directory_symlink("real", tree.at("link"));
  fs::create_symlink("real/f", tree.at("file-link"));
  fs::create_directory_symlink("..", tree.at("real/up"));
  REQUIRE(::mkfifo(tree.at("fifo").c_str(), 0600) == 0);
  CHECK(tree.files({.pattern = "word"}) == Names{"real/f"});
  CHECK(tree.paths({}) == Names{"fifo", "file-link", "link", "real", "real/f", "real/up"});
  const auto named = tree.grep({.pattern = "word"}, "fifo");
  REQUIRE_FALSE(named);
  CHECK(named.error().code() == ErrorCode::kFailedPrecondition);
}

TEST_CASE("Walk: a directory that cannot be read is counted and named, the rest is searched",
          "[unit][search]") {
  SearchFixture tree;
  tree.put("closed/f", "word");
  tree.put("open/f", "word");
  fs::permissions(tree.at("."), fs::perms(0755));
  fs::permissions(tree.at("closed"), fs::perms::none);
  // Root would read it: the search's threads take this thread's file-system id over.
  ::setfsuid(65'534);
  const auto result = tree.grep({.pattern = "word"}).value();
  ::setfsuid(::geteuid());
  fs::permissions(tree.at("closed"), fs::perms::owner_all);
  CHECK(result.lines.size() == 1);
  REQUIRE(result.summary.problem_count == 1);
  CHECK(result.summary.problems.at(0).path == "closed");
  CHECK(result.summary.problems.at(0).code == ErrorCode::kPermissionDenied);
}

TEST_CASE("Walk: a way of 200 directories is walked with few descriptors", "[unit][search]") {
  SearchFixture tree;
  std::string path;
  for (int i = 0; i < 200; ++i) path += "d/";
  tree.put(path + "deep", "word");
  tree.put("d/z", "word");
  CHECK(tree.files({.pattern = "word"}) == Names{path + "deep", "d/z"});
}

TEST_CASE("Walk: files and directories that vanish meanwhile are no error",
          "[unit][search][threads]") {
  SearchFixture tree;
  std::atomic<bool> enough{false};
  std::thread churn([&] {
    for (int i = 0; !enough; ++i) {
      std::error_code ignored;
      tree.put("moving/" + std::to_string(i % 7) + "/f", "word");
      fs::remove_all(tree.at("moving/" + std::to_string((i + 3) % 7)), ignored);
    }
  });
  put_tree(tree);
  for (int i = 0; i < 10; ++i) {
    const auto result = tree.grep({.pattern = "word", .exclude = {"moving/"}, .limit = {}});
    CHECK(result.value().lines.size() == 2'000);
    const auto all = tree.grep({.pattern = "word", .limit = {}});
    CHECK(all.value().summary.problem_count == 0);
  }
  enough = true;
  churn.join();
}

TEST_CASE("Search: results that nobody takes make it wait, in bounded memory",
          "[unit][search][threads]") {
  SearchFixture tree;
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "a line with a word in it\n";
  for (int i = 0; i < 10; ++i) tree.put("f" + std::to_string(i), text);
  SearchListener listener;
  GrepSearch search(tree.ground(), {"", "."}, {.pattern = "word", .limit = {}}, listener.events());
  REQUIRE(search.start());
  listener.wait_output();
  std::size_t bytes = 0;
  std::size_t lines = 0;
  for (;;) {
    while (const auto block = search.next_output(256 * 1024)) {
      bytes += block->size();
      lines += wire::unpack_lines(*block).value().size();
    }
    if (const auto ending = search.ending()) break;
    listener.wait_output();
  }
  CHECK(lines == 400'000);
  CHECK(bytes > 10'000'000);
}

TEST_CASE("Search: stopping one keeps what it has found, and says why", "[unit][search][pain-66]") {
  SearchFixture tree;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a line with a word in it\n";
  for (int i = 0; i < 4; ++i) tree.put("f" + std::to_string(i), text);
  SearchListener listener;
  GrepSearch search(tree.ground(), {"", "."}, {.pattern = "word", .limit = {}}, listener.events());
  REQUIRE(search.start());
  listener.wait_output();  // nobody takes it: the search cannot end by itself
  search.stop(SearchEnd::kDeadline);
  std::uint64_t lines = 0;
  while (const auto block = search.next_output(256 * 1024)) {
    lines += wire::unpack_lines(*block).value().size();
  }
  const auto ending = search.ending();
  REQUIRE(ending);
  CHECK(ending->value().ended == SearchEnd::kDeadline);
  CHECK(ending->value().matches == lines);
  CHECK(lines > 0);
  CHECK(lines < 400'000);
  listener.wait_done();
}

TEST_CASE("Search: a stop is heard soon in a huge file and with a slow pattern",
          "[unit][search][slow]") {
  SearchFixture tree;
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "some text of no importance at all, xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 8; ++i) tree.put("f" + std::to_string(i), text);
  for (const char* pattern : {"[a-z]+ [a-z]+ y", "(x+x+)+y", "absent literal"}) {
    SearchListener listener;
    GrepSearch search(tree.ground(), {"", "."}, {.pattern = pattern, .limit = {}},
                      listener.events());
    REQUIRE(search.start());
    std::this_thread::yield();
    const auto before = std::chrono::steady_clock::now();
    search.stop(SearchEnd::kCancelled);
    listener.wait_done();
    CHECK(std::chrono::steady_clock::now() - before < 1s);  // 50 ms on a machine that is not loaded
    CHECK(search.ending()->value().ended == SearchEnd::kCancelled);
  }
}

TEST_CASE("Search: the first 100 results are there before the walk is over", "[unit][search]") {
  SearchFixture tree;
  put_deep(tree);
  SearchListener listener;
  SECTION("of grep") {
    GrepSearch search(tree.ground(), {"", "."}, {.pattern = "word", .limit = {}},
                      listener.events());
    check_first_100(search, listener, [](ByteView bytes) { return wire::unpack_lines(bytes); });
  }
  SECTION("of find") {
    FindSearch search(tree.ground(), {"", "."}, {.limit = {}}, listener.events());
    check_first_100(search, listener, [](ByteView bytes) { return wire::unpack_entries(bytes); });
  }
}

TEST_CASE("Search: 100,000 files are walked, in order", "[unit][search][slow]") {
  SearchFixture tree;
  for (int i = 0; i < 100'000; ++i) {
    tree.put("d" + padded(i / 1'000) + "/f" + padded(i % 1'000), "word\n");
  }
  std::size_t count = 0;
  std::string last;
  SearchListener listener;
  GrepSearch search(tree.ground(), {"", "."}, {.pattern = "word", .limit = {}}, listener.events());
  const auto summary = SearchFixture::drain(search, listener, [&](ByteView bytes) {
    for (const auto& line : wire::unpack_lines(bytes).value()) {
      REQUIRE(last < line.path);
      last = line.path;
      ++count;
    }
  });
  CHECK(count == 100'000);
  CHECK(summary.value().files_searched == 100'000);
  CHECK(tree.find({.limit = std::nullopt}).value().entries.size() == 100'100);
}

TEST_CASE("Search: what cannot begin says why", "[unit][search]") {
  SearchFixture tree;
  tree.put("f", "x");
  const auto code = [](const auto& result) {
    REQUIRE_FALSE(result);
    return result.error().code();
  };
  CHECK(code(tree.grep({.pattern = "("})) == ErrorCode::kInvalidArgument);
  CHECK(code(tree.grep({.pattern = "x", .include = {"["}})) == ErrorCode::kInvalidArgument);
  CHECK(code(tree.find({.glob = "{"})) == ErrorCode::kInvalidArgument);
  CHECK(code(tree.find({}, "f")) == ErrorCode::kFailedPrecondition);
  CHECK(code(tree.find({}, "missing")) == ErrorCode::kNotFound);
}

TEST_CASE(
    "Search: spilled outputs are searched by their absolute path, the home around them is not",
    "[unit][search]") {
  SearchFixture tree;
  tree.put_home(".cove/spill/1.out", "one\nword\n");
  tree.put_home(".cove/spill/2.out", "word\n");
  tree.put_home(".profile", "word\n");
  CHECK(tree.places({.pattern = "word"}, "/home/sandbox/.cove/spill") ==
        Names{"1.out:2", "2.out:1"});
  CHECK(tree.places({.pattern = "word"}, "/home/sandbox/.cove/spill/1.out") == Names{"1.out:2"});
  CHECK(tree.paths({}, "/home/sandbox/.cove/spill") == Names{"1.out", "2.out"});
  CHECK(tree.find({}, "/home/sandbox").error().code() == ErrorCode::kPathEscape);
  CHECK(tree.grep({.pattern = "word"}, "/home/sandbox/.profile").error().code() ==
        ErrorCode::kPathEscape);
}

TEST_CASE("Search: an empty directory has nothing", "[unit][search]") {
  SearchFixture tree;
  CHECK(tree.grep({.pattern = "x"}).value().summary.ended == SearchEnd::kComplete);
  CHECK(tree.find({}).value().entries.empty());
}

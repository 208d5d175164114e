#include <catch2/catch.hpp>

#include "search_fixture.hpp"

using namespace cove;
namespace fs = std::filesystem;
using agent::IgnoreFile;
using agent::testing::Names;
using agent::testing::SearchFixture;

namespace {

struct Row {
  const char* rules;
  const char* path;
  bool is_directory;
  int expected;  // 1 ignored, 0 not, -1 nothing said
};

constexpr Row kRows[] = {
    {"a", "a", false, 1},
    {"a", "x/a", false, 1},
    {"a", "x/a", true, 1},
    {"a", "ab", false, -1},
    {"# a\n\n", "a", false, -1},
    {"\\#a", "#a", false, 1},
    {"\\!a", "!a", false, 1},
    {"a\n!a", "a", false, 0},
    {"!a\na", "a", false, 1},
    {"*.log\n!keep.log", "keep.log", false, 0},
    {"*.log\n!keep.log", "x/other.log", false, 1},
    {"build/", "build", true, 1},
    {"build/", "build", false, -1},
    {"build/", "x/build", true, 1},
    {"/build", "build", false, 1},
    {"/build", "x/build", false, -1},
    {"x/build", "x/build", false, 1},
    {"x/build", "y/x/build", false, -1},
    {"**/x/build", "y/x/build", false, 1},
    {"x/**", "x/a/b", false, 1},
    {"x/**", "x", true, -1},
    {"x/**/b", "x/b", false, 1},
    {"x/**/b", "x/1/2/b", false, 1},
    {"x/*", "x/a", false, 1},
    {"x/*", "x/a/b", false, -1},
    {"a  ", "a", false, 1},
    {"a\\ ", "a ", false, 1},
    {"a\r\nb\r\n", "a", false, 1},
    {"a\r\nb\r\n", "b", false, 1},
    {"\xEF\xBB\xBF"
     "a\n",
     "a", false, 1},
    {"{a,b}", "a", false, -1},
    {"{a,b}", "{a,b}", false, 1},
    {"[a-", "a", false, -1},
    {"foo\n[a-\nbar", "bar", false, 1},
    {"*.min.js", "x/a.min.js", false, 1},
    {"*.min.js", "x/a.js", false, -1},
    {"foo*\n!foobar\nfoob*", "foobar", false, 1},
    {"?.c", "a.c", false, 1},
    {"a\\b", "ab", false, 1},
    {"doc/\n!doc/", "doc", true, 0},
};

int decision(const Row& row) {
  const std::string_view path(row.path);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto decided = IgnoreFile::parse(row.rules).decide(path, name, row.is_directory);
  if (!decided) return -1;
  return *decided ? 1 : 0;
}

}  // namespace

TEST_CASE("IgnoreFile: each row of the table is decided as git decides it", "[unit][search]") {
  for (const Row& row : kRows) {
    INFO(row.rules << " against " << row.path);
    CHECK(decision(row) == row.expected);
  }
}

TEST_CASE("Search: ignore files count with and without a repository, the inner and the later more",
          "[unit][search][pain-75]") {
  SearchFixture tree;
  tree.put(".gitignore", "node_modules\n*.log\n/only-here\n");
  tree.put("node_modules/x/index.js", "word");
  tree.put("a/node_modules/y/index.js", "word");
  tree.put("a/b.log", "word");
  tree.put("a/only-here", "word");
  tree.put("only-here", "word");
  tree.put("inner/.gitignore", "!kept.log\nsecret\n");
  tree.put("inner/kept.log", "word");
  tree.put("inner/secret", "word");
  tree.put("later/.gitignore", "one\ntwo\n");
  tree.put("later/.ignore", "!one\n");
  tree.put("later/.coveignore", "three\n");
  tree.put("later/one", "word");
  tree.put("later/two", "word");
  tree.put("later/three", "word");
  const Names expected{"a/only-here", "inner/kept.log", "later/one"};
  CHECK(tree.files({.pattern = "word"}) == expected);
  fs::create_directories(tree.at(".git"));
  CHECK(tree.files({.pattern = "word"}) == expected);
}

TEST_CASE("Search: the rules of directories around the searched one count",
          "[unit][search][pain-75]") {
  SearchFixture tree;
  tree.put(".gitignore", "/a/b/anchored\n*.tmp\n");
  tree.put("a/.ignore", "middle\n");
  tree.put("a/b/anchored", "word");
  tree.put("a/b/middle", "word");
  tree.put("a/b/x.tmp", "word");
  tree.put("a/b/found", "word");
  CHECK(tree.files({.pattern = "word"}, "a/b") == Names{"found"});
  CHECK(tree.files({.pattern = "word", .use_ignore_files = false}, "a/b") ==
        Names{"anchored", "found", "middle", "x.tmp"});
}

TEST_CASE("Search: a directory that is named is searched although it is ignored",
          "[unit][search]") {
  SearchFixture tree;
  tree.put(".gitignore", "vendor/\n");
  tree.put("vendor/lib.c", "word");
  CHECK(tree.files({.pattern = "word"}) == Names{});
  CHECK(tree.files({.pattern = "word"}, "vendor") == Names{"lib.c"});
}

TEST_CASE("Search: .git is passed over always, other hidden files unless they are asked for",
          "[unit][search]") {
  SearchFixture tree;
  tree.put(".git/config", "word");
  tree.put("sub/.git", "word");
  tree.put(".env", "word");
  tree.put(".config/x", "word");
  tree.put("shown", "word");
  CHECK(tree.files({.pattern = "word"}) == Names{"shown"});
  CHECK(tree.files({.pattern = "word", .hidden = true}) == Names{".config/x", ".env", "shown"});
  CHECK(tree.paths({.hidden = true}) == Names{".config", ".config/x", ".env", "shown", "sub"});
}

TEST_CASE("Search: excludes and ignore rules hold for names with spaces and bytes that are no text",
          "[unit][search][pain-75]") {
  SearchFixture tree;
  tree.put(".gitignore", "a b\n\xff\xfe.txt\n");
  tree.put("a b/x", "word");
  tree.put("\xff\xfe.txt", "word");
  tree.put("d\xc3\xa9j\xc3\xa0 vu", "word");
  tree.put("node_modules/x", "word");
  tree.put("in/node_modules/x", "word");
  CHECK(tree.files({.pattern = "word", .exclude = {"**/node_modules"}}) ==
        Names{"d\xc3\xa9j\xc3\xa0 vu"});
}

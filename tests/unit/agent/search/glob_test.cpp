#include "agent/search/walk/glob.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using agent::Braces;
using agent::Glob;
using agent::GlobList;

namespace {

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
}

struct Row {
  const char* glob;
  const char* path;
  bool matches;
};

constexpr Row kRows[] = {
    {"a", "a", true},
    {"a", "dir/a", true},
    {"a", "ab", false},
    {"/a", "a", true},
    {"/a", "dir/a", false},
    {"*", "anything", true},
    {"*", ".hidden", true},
    {"*.txt", "a.txt", true},
    {"*.txt", "x/y/a.txt", true},
    {"*.txt", "a.txt.bak", false},
    {"a*b*c", "a--b--c", true},
    {"a*b*c", "abcb", false},
    {"a?c", "abc", true},
    {"a?c", "ac", false},
    {"dir/*", "dir/a", true},
    {"dir/*", "dir/a/b", false},
    {"dir/*", "x/dir/a", false},
    {"dir/?", "dir/a", true},
    {"**/a", "a", true},
    {"**/a", "x/a", true},
    {"**/a", "x/y/a", true},
    {"**/a", "x/y/ab", false},
    {"dir/**", "dir/a", true},
    {"dir/**", "dir/a/b/c", true},
    {"dir/**", "dir", false},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "a/x/y/c", false},
    {"**/x/**/y", "1/x/2/x/3/y", true},
    {"**/*_test.{cc,cpp}", "src/a_test.cpp", true},
    {"**/*_test.{cc,cpp}", "a_test.cc", true},
    {"**/*_test.{cc,cpp}", "src/a_test.c", false},
    {"{a,b/c}", "a", true},
    {"{a,b/c}", "b/c", true},
    {"{a,{b,c}d}e", "ae", true},
    {"{a,{b,c}d}e", "cde", true},
    {"{a,{b,c}d}e", "ce", false},
    {"{,x}y", "y", true},
    {"[abc]", "b", true},
    {"[abc]", "d", false},
    {"[a-c]x", "bx", true},
    {"[!a-c]x", "bx", false},
    {"[^a-c]x", "dx", true},
    {"[]]", "]", true},
    {"[a\\]b]", "]", true},
    {"[-a]", "-", true},
    {"a[!b]c", "a/c", false},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\{a", "{a", true},
    {"[{]a", "{a", true},
    {"./a/*", "a/b", true},
    {"**", "a", true},
    {"**", "a/b", true},
    {"a**b", "axxb", true},
    {"\xff*", "\xff\xfe", true},
    {"a/b/../c", "a/c", false},
};

std::string refusal(const char* glob) {
  const auto parsed = GlobList::parse({glob});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code() == ErrorCode::kInvalidArgument);
  return parsed.error().message();
}

}  // namespace

TEST_CASE("Glob: each row of the table matches as it says", "[unit][search]") {
  for (const Row& row : kRows) {
    INFO(row.glob << " against " << row.path);
    const auto glob = GlobList::parse({row.glob});
    REQUIRE(glob);
    CHECK(glob->matches(row.path, last_name(row.path), false) == row.matches);
  }
}

TEST_CASE("Glob: one that ends in a slash is for directories only", "[unit][search]") {
  const auto globs = GlobList::parse({"node_modules/"}).value();
  CHECK(globs.matches("a/node_modules", "node_modules", true));
  CHECK_FALSE(globs.matches("a/node_modules", "node_modules", false));
}

TEST_CASE("Glob: what is wrong is named with its place", "[unit][search]") {
  CHECK_THAT(refusal("src/[a-"), Catch::Contains("at byte 4: the class has no end"));
  CHECK_THAT(refusal("src/{a,b"), Catch::Contains("at byte 4: the brace has no end"));
  CHECK_THAT(refusal("src/[z-a]"), Catch::Contains("at byte 5: the range ends before it begins"));
  CHECK_THAT(refusal("a/{x,[z-a]}"), Catch::Contains("at byte 5: the range ends before"));
  CHECK_THAT(refusal(""), Catch::Contains("a glob is empty"));
  CHECK_THAT(refusal("abc\\"), Catch::Contains("at byte 3: nothing follows the backslash"));
  CHECK_THAT(refusal("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"),
             Catch::Contains("more than 1,000 globs"));
}

TEST_CASE("Glob: braces are plain text where the caller says so", "[unit][search]") {
  const auto glob = Glob::parse("{a,b}", Braces::kPlain).value();
  CHECK(glob.matches("{a,b}", "{a,b}"));
  CHECK_FALSE(glob.matches("a", "a"));
}

TEST_CASE("Glob: many stars on a long name take no longer than their product", "[unit][search]") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "*a";
  const auto glob = Glob::parse(text + "b", Braces::kPlain).value();
  const std::string name(100'000, 'a');
  CHECK_FALSE(glob.matches(name, name));

  std::string deep;
  std::string path;
  for (int i = 0; i < 100; ++i) deep += "**/a/";
  for (int i = 0; i < 5'000; ++i) path += "a/";
  const auto deep_glob = Glob::parse(deep + "b", Braces::kPlain).value();
  CHECK_FALSE(deep_glob.matches(path + "c", "c"));
}

#include <catch2/catch.hpp>

#include "base/text/utf8.hpp"
#include "search_fixture.hpp"

using namespace cove;
using agent::testing::Names;
using agent::testing::SearchFixture;

namespace {

std::string numbered(int lines, const std::string& every_tenth) {
  std::string text;
  for (int i = 1; i <= lines; ++i) {
    text += i % 10 == 0 ? every_tenth : "line " + std::to_string(i);
    text += '\n';
  }
  return text;
}

std::string text_of(const GrepLine& line, std::size_t submatch) {
  return line.text.substr(line.submatches.at(submatch).offset, line.submatches.at(submatch).length);
}

std::string utf16(const std::u16string& text, bool big) {
  std::string bytes = big ? "\xFE\xFF" : "\xFF\xFE";
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xFFU);
    const char high = static_cast<char>(unit >> 8U);
    bytes += big ? high : low;
    bytes += big ? low : high;
  }
  return bytes;
}

}  // namespace

TEST_CASE("Grep: a match has its path, line, column, text and all submatches", "[unit][search]") {
  SearchFixture tree;
  tree.put("src/a.py", "import os\n\ndef run(self): self.x = 1\n");
  const auto result = tree.grep({.pattern = "self|def"}).value();
  REQUIRE(result.lines.size() == 1);
  const GrepLine& line = result.lines.front();
  CHECK(line.path == "src/a.py");
  CHECK(line.line == 3);
  CHECK(line.column == 1);
  CHECK(line.text == "def run(self): self.x = 1");
  REQUIRE(line.submatches.size() == 3);
  CHECK(text_of(line, 0) == "def");
  CHECK(line.submatches[1].offset == 8);
  CHECK(line.submatches[2].offset == 15);
  CHECK_FALSE(line.is_context);
  CHECK_FALSE(line.cut);
  CHECK(result.summary.ended == SearchEnd::kComplete);
  CHECK(result.summary.matches == 1);
  CHECK(result.summary.files_searched == 1);
  CHECK(result.summary.files_matched == 1);
}

TEST_CASE("Grep: one file may be searched, and is called by its name", "[unit][search]") {
  SearchFixture tree;
  tree.put("a/b.txt", "x\nword\n");
  CHECK(tree.places({.pattern = "word"}, "a/b.txt") == Names{"b.txt:2"});
  const auto missing = tree.grep({.pattern = "word"}, "a/c.txt");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::kNotFound);
  const auto outside = tree.grep({.pattern = "word"}, "../..");
  REQUIRE_FALSE(outside);
  CHECK(outside.error().code() == ErrorCode::kPathEscape);
}

TEST_CASE("Grep: context is given once, in order, and merges where it overlaps", "[unit][search]") {
  SearchFixture tree;
  tree.put("f", "1\n2\nhit\n4\n5\nhit\n7\n8\n9\n10\nhit\n");
  CHECK(tree.places({.pattern = "hit", .context_before = 2, .context_after = 1}) ==
        Names{"f-1", "f-2", "f:3", "f-4", "f-5", "f:6", "f-7", "f-9", "f-10", "f:11"});
  CHECK(tree.places({.pattern = "hit", .context_after = 2}) ==
        Names{"f:3", "f-4", "f-5", "f:6", "f-7", "f-8", "f:11"});
  CHECK(tree.places({.pattern = "hit", .context_before = 1000}).size() == 11);
  CHECK(tree.places({.pattern = "hit", .context_before = 1, .context_after = 1, .limit = 1}) ==
        Names{"f-2", "f:3", "f-4"});
}

TEST_CASE("Grep: context and line numbers hold across the blocks that a large file is read in",
          "[unit][search]") {
  SearchFixture tree;
  const std::string padding(97, '.');
  std::string text;
  Names expected;
  for (int i = 1; i <= 9'000; ++i) {
    text += (i % 700 == 0 ? "hit" : padding) + "\n";
    for (int near = -3; near <= 3; ++near) {
      if ((i - near) % 700 != 0 || i - near == 0) continue;
      expected.push_back("big" + std::string(near == 0 ? ":" : "-") + std::to_string(i));
    }
  }
  tree.put("big", text);
  CHECK(tree.places({.pattern = "hit", .context_before = 3, .context_after = 3}) == expected);
}

TEST_CASE("Grep: lines end in LF or CRLF, the last one also in nothing", "[unit][search]") {
  SearchFixture tree;
  tree.put("f", "one end\r\ntwo end\nthree end");
  const auto lines = tree.grep({.pattern = "end$"}).value().lines;
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text == "one end");
  CHECK(lines[2].text == "three end");
  CHECK(tree.places({.pattern = "^$"}).empty());
  tree.put("empty-line", "a\n\r\n\nb\n");
  CHECK(tree.places({.pattern = "^$"}) == Names{"empty-line:2", "empty-line:3"});
}

TEST_CASE("Grep: of a long line a part is given with its match in view", "[unit][search]") {
  SearchFixture tree;
  tree.put("long", std::string(10'000, 'a') + "needle" + std::string(10'000, 'b') + "\n");
  const auto lines = tree.grep({.pattern = "needle"}).value().lines;
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].cut);
  CHECK(lines[0].text.size() == 500);
  CHECK(lines[0].column == 10'001);
  CHECK(text_of(lines[0], 0) == "needle");
  CHECK(lines[0].text_offset + lines[0].submatches[0].offset == 10'000);

  tree.put("long", std::string(5'000, 'n') + "\n");
  const auto whole = tree.grep({.pattern = "n+"}).value().lines;
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].submatches[0].length == 500);
}

TEST_CASE("Grep: a cut never goes through a character", "[unit][search]") {
  SearchFixture tree;
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "\xe4\xbd\xa0";
  tree.put("long", text + "needle" + text);
  const auto line = tree.grep({.pattern = "needle", .max_line_bytes = 100}).value().lines.at(0);
  CHECK(line.text.size() <= 100);
  CHECK(base::is_utf8(line.text));
  CHECK(text_of(line, 0) == "needle");
}

TEST_CASE("Grep: binary files are passed over and counted", "[unit][search]") {
  SearchFixture tree;
  tree.put("early", std::string("word\0word", 9));
  tree.put("late", "word\n" + std::string(20'000, 'x') + std::string("\0", 1) + "\n");
  tree.put("text", "word\n");
  const auto result = tree.grep({.pattern = "word"}).value();
  REQUIRE(result.lines.size() == 1);
  CHECK(result.lines[0].path == "text");
  CHECK(result.summary.files_binary == 2);
}

TEST_CASE("Grep: UTF-16 with a byte order mark is searched as text", "[unit][search]") {
  SearchFixture tree;
  const std::u16string text = u"first\r\nsecond \u00e9\U0001F600 word\r\n";
  tree.put("little", utf16(text, false));
  tree.put("big", utf16(text, true));
  tree.put("marked", "\xEF\xBB\xBFword\n");
  const auto lines = tree.grep({.pattern = "^second .* word$|^word"}).value().lines;
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].encoding == TextEncoding::kUtf16Be);
  CHECK(lines[0].text == "second \xc3\xa9\xf0\x9f\x98\x80 word");
  CHECK(lines[0].line == 2);
  CHECK(lines[1].encoding == TextEncoding::kUtf16Le);
  CHECK(lines[1].text == lines[0].text);
  CHECK(lines[2].encoding == TextEncoding::kBytes);
}

TEST_CASE("Grep: a large UTF-16 file is converted across its blocks", "[unit][search]") {
  SearchFixture tree;
  std::u16string text;
  for (int i = 1; i <= 40'000; ++i)
    text += i % 10'000 == 0 ? u"\U0001F600 word\n" : u"\u4f60\u597d\n";
  tree.put("big", utf16(text, false));
  CHECK(tree.places({.pattern = "word"}) ==
        Names{"big:10000", "big:20000", "big:30000", "big:40000"});
}

TEST_CASE("Grep: bytes that are no UTF-8 are searched and given as they are", "[unit][search]") {
  SearchFixture tree;
  tree.put("latin", "caf\xe9 word\n");
  const auto lines = tree.grep({.pattern = "word"}).value().lines;
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "caf\xe9 word");
  CHECK(lines[0].column == 6);
}

TEST_CASE("Grep: a pattern that matches nothing matches every line", "[unit][search]") {
  SearchFixture tree;
  tree.put("f", "a\n\nb");
  CHECK(tree.places({.pattern = "x*"}) == Names{"f:1", "f:2", "f:3"});
}

TEST_CASE("Grep: globs choose files, size passes them over", "[unit][search]") {
  SearchFixture tree;
  tree.put("a.py", "word");
  tree.put("lib/b.py", "word");
  tree.put("lib/c.js", "word");
  tree.put("lib/big.py", "word" + std::string(1000, '.'));
  CHECK(tree.files({.pattern = "word", .include = {"*.py"}}) ==
        Names{"a.py", "lib/b.py", "lib/big.py"});
  CHECK(tree.files({.pattern = "word", .include = {"lib/*.{js,ts}"}}) == Names{"lib/c.js"});
  CHECK(tree.files({.pattern = "word", .exclude = {"lib/"}}) == Names{"a.py"});
  const auto small = tree.grep({.pattern = "word", .max_file_bytes = 100}).value();
  CHECK(small.lines.size() == 3);
  CHECK(small.summary.files_too_large == 1);
}

TEST_CASE("Grep: the limit stops the walk and says so", "[unit][search]") {
  SearchFixture tree;
  for (int i = 0; i < 50; ++i) tree.put("f" + std::to_string(100 + i), numbered(100, "hit"));
  const auto result = tree.grep({.pattern = "hit", .limit = 25}).value();
  CHECK(result.lines.size() == 25);
  CHECK(result.lines.back().path == "f102");
  CHECK(result.lines.back().line == 50);
  CHECK(result.summary.ended == SearchEnd::kLimit);
  CHECK(result.summary.matches == 25);
  // Of results whose turn has not come only some MB are kept, and these are 10: so, whichever
  // thread was slow, the walk is not over.
  SearchFixture large;
  std::string lines;
  for (int i = 0; i < 25; ++i) lines += std::string(4'000, '.') + "hit\n";
  for (int i = 0; i < 100; ++i) large.put("f" + std::to_string(100 + i), lines);
  const GrepQuery whole_lines{.pattern = "hit", .limit = 25, .max_line_bytes = 4'096};
  CHECK(large.grep(whole_lines).value().summary.files_searched < 100);
}

TEST_CASE("Grep: a file of one endless line is searched in bounded memory", "[unit][search]") {
  SearchFixture tree;
  tree.put("endless", std::string(9U << 20U, 'x') + "needle\nnext needle\n");
  const auto lines = tree.grep({.pattern = "needle"}).value().lines;
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].line == 1);
  CHECK(lines[1].line == 2);
}

TEST_CASE("Grep: a query out of its ranges is refused", "[unit][search]") {
  CHECK(check(GrepQuery{.pattern = ""}).error().code() == ErrorCode::kInvalidArgument);
  CHECK_FALSE(check(GrepQuery{.pattern = "a", .context_before = 1'001}));
  CHECK_FALSE(check(GrepQuery{.pattern = "a", .limit = 0}));
  CHECK_FALSE(check(GrepQuery{.pattern = "a", .max_line_bytes = 8}));
  CHECK_FALSE(check(GrepQuery{.pattern = std::string(40'000, 'a')}));
  CHECK(check(GrepQuery{.pattern = "a", .limit = std::nullopt}));
}

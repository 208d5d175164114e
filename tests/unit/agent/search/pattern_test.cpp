#include "agent/search/pattern/pattern.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>
#include <re2/re2.h>

#include "agent/search/pattern/required.hpp"
#include "agent/search/pattern/required_part.hpp"

using namespace cove;
using namespace cove::agent;

namespace {

/// The runs of a pattern, written as text where a place has one byte and as `.` where it has more.
std::vector<std::string> needles(const std::string& pattern, bool ignore_case = false) {
  std::vector<std::string> texts;
  for (const ByteRun& run : required_bytes(pattern, {.ignore_case = ignore_case}).any_of) {
    std::string text;
    for (const ByteClass& set : run) {
      char byte = '.';
      for (std::size_t i = 0; i < 256 && set.count() == 1; ++i) {
        if (set[i]) byte = static_cast<char>(i);
      }
      text += byte;
    }
    texts.push_back(text);
  }
  return texts;
}

std::string refusal(const std::string& pattern) {
  const auto compiled = Pattern::compile({.pattern = pattern});
  REQUIRE_FALSE(compiled);
  CHECK(compiled.error().code() == ErrorCode::kInvalidArgument);
  return compiled.error().message();
}

/// The first bytes of the lines that match, found as a search finds them.
std::vector<std::size_t> matching_lines(const GrepQuery& query, const std::string& text) {
  const auto pattern = Pattern::compile(query).value();
  const std::atomic<bool> stopped{false};
  Matcher matcher(pattern, stopped);
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  std::vector<std::size_t> found;
  matcher.begin_block(at, end);
  while (at < end) {
    const char* place = matcher.candidate(at, end);
    if (place == end) break;
    const std::size_t offset = static_cast<std::size_t>(place - text.data());
    const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    const std::size_t line_end = std::min(text.find('\n', offset), text.size());
    std::string_view line(text.data() + begin, line_end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    MatchSpan match;
    if (matcher.next(line, 0, match)) found.push_back(begin);
    at = std::min(text.data() + line_end + 1, end);
  }
  return found;
}

/// The same by asking RE2 about each line.
std::vector<std::size_t> expected_lines(const GrepQuery& query, const std::string& text) {
  re2::RE2::Options options;
  options.set_case_sensitive(!query.ignore_case);
  const re2::RE2 expression(query.pattern, options);
  std::vector<std::size_t> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (re2::RE2::PartialMatch(line, expression)) found.push_back(begin);
    begin = end + 1;
  }
  return found;
}

std::string random_text(std::mt19937& random, std::size_t bytes) {
  static constexpr std::string_view kPieces[] = {
      "def ",     "foo",  "bar(", "self", "_",         "12",        "345",      " ",
      "\n",       "\r\n", "A",    "Zz",   "k",         "K",         "\xc3\xa9", "\xe2\x84\xaa",
      "\xc5\xbf", "\xff", ".",    "abc",  "cancelled", "Cancelled", "\t"};
  std::string text;
  while (text.size() < bytes) text += kPieces[random() % std::size(kPieces)];
  return text;
}

}  // namespace

TEST_CASE("Required bytes: what every match must have is found", "[unit][search]") {
  CHECK(needles("foo") == std::vector<std::string>{"foo"});
  CHECK(needles("def [a-z_]+\\(self") == std::vector<std::string>{".(self"});
  CHECK(needles("[a-z]+_[0-9]{3}") == std::vector<std::string>{"._..."});
  CHECK(needles("\\w+\\s+[A-Z][a-z]+") == std::vector<std::string>{"..."});
  CHECK(needles("foo|bar") == std::vector<std::string>{"foo", "bar"});
  CHECK(needles("(foo|bar)baz+") == std::vector<std::string>{"baz"});
  CHECK(needles("x*y?abc") == std::vector<std::string>{"abc"});
  CHECK(needles("(?i)cat") == std::vector<std::string>{"..."});
  CHECK(needles("a.c") == std::vector<std::string>{"c"});
  CHECK(needles("\\Qa.c\\E") == std::vector<std::string>{"a.c"});
  CHECK(needles("\\x41\\x{42}C") == std::vector<std::string>{"ABC"});
  CHECK(needles("^import$") == std::vector<std::string>{"import"});
  CHECK(needles("caf\xc3\xa9") == std::vector<std::string>{"caf\xc3\xa9"});
}

TEST_CASE("Required bytes: nothing is claimed where nothing is certain", "[unit][search]") {
  for (const char* pattern : {"a*", ".*", "a?", "", "(a|)", "[^a]", "\\W", "\\pL", "(a*|b)", "^$",
                              "[\xc3\xa9]", "(?i)\xc3\xa9"}) {
    INFO(pattern);
    CHECK(needles(pattern).empty());
  }
  // U+212A and U+017F fold to k and s.
  CHECK(needles("kilos", true) == std::vector<std::string>{"..."});
}

TEST_CASE("Pattern: the lines found are those that RE2 finds one by one", "[unit][search]") {
  std::mt19937 random(20240501);
  const char* patterns[] = {"foo",
                            "def [a-z_]+\\(self",
                            "[a-z]+_[0-9]{3}",
                            "\\w+\\s+[A-Z][a-z]+",
                            "foo|bar\\(|345",
                            "^def",
                            "self$",
                            "\\bfoo\\b",
                            "k",
                            "[^a-z]A",
                            "(?i)abc|zz",
                            "a.c",
                            "(foo|bar)+",
                            "\\Afoo",
                            "r\\z",
                            "\xc3\xa9",
                            "x{0,2}y|12345",
                            "(?s)f.*b",
                            "\\s\\s",
                            "[[:upper:]]{2}",
                            "\\d+\\D+\\d",
                            "(?:ab)?c(?:a|A)",
                            "\\x66oo",
                            "se(?i:LF)",
                            "f(?-m:oo$)",
                            "."};
  for (int round = 0; round < 20; ++round) {
    const std::string text = random_text(random, 3'000);
    for (const char* pattern : patterns) {
      for (const bool ignore_case : {false, true}) {
        INFO(pattern << (ignore_case ? " ignoring case" : ""));
        const GrepQuery query{.pattern = pattern, .ignore_case = ignore_case};
        REQUIRE(matching_lines(query, text) == expected_lines(query, text));
      }
    }
  }
}

TEST_CASE("Pattern: literals are plain bytes, in either case where asked", "[unit][search]") {
  const std::string text = "a.c\nabc\nA.C\n\xff.c\n";
  using Lines = std::vector<std::size_t>;
  CHECK(matching_lines({.pattern = "a.c", .literal = true}, text) == Lines{0});
  CHECK(matching_lines({.pattern = "a.c", .literal = true, .ignore_case = true}, text) ==
        Lines{0, 8});
  CHECK(matching_lines({.pattern = "\xff.", .literal = true}, text) == Lines{12});
  const std::string accents = "\xc3\x89t\xc3\xa9\n\xc3\xa9t\xc3\xa9\n";
  CHECK(matching_lines({.pattern = "\xc3\xa9t\xc3\xa9", .literal = true, .ignore_case = true},
                       accents) == Lines{0, 6});
}

TEST_CASE("Pattern: a literal longer than a needle is compared to its end", "[unit][search]") {
  const std::string literal = "the quick brown fox jumps over the lazy dog";
  const std::string text = "x " + literal + "\n" + literal.substr(0, 42) + "\n" + literal;
  CHECK(matching_lines({.pattern = literal, .literal = true}, text) ==
        std::vector<std::size_t>{0, 89});
}

TEST_CASE("Pattern: whole words have no letter, digit or _ beside them", "[unit][search]") {
  const std::string text =
      "foo\nfoo bar\nxfoo\nfoo1\n(foo)\nfoo_\nfood foo\n\xc3\xa9"
      "foo\n";
  const GrepQuery query{.pattern = "foo", .whole_word = true};
  CHECK(matching_lines(query, text) == std::vector<std::size_t>{0, 4, 22, 33});
  const GrepQuery either{.pattern = "fo|foo", .whole_word = true};
  CHECK(matching_lines(either, text) == std::vector<std::size_t>{0, 4, 22, 33});
  const GrepQuery dashes{.pattern = "--all", .literal = true, .whole_word = true};
  CHECK(matching_lines(dashes, "git add --all\n---all\n--allow\n") ==
        std::vector<std::size_t>{0, 14});
}

TEST_CASE("Pattern: a wrong one is refused with its place and reason", "[unit][search]") {
  CHECK_THAT(refusal("foo(bar"), Catch::Contains("at byte 3") && Catch::Contains("partner"));
  CHECK_THAT(refusal("foo)"), Catch::Contains("at byte 3") && Catch::Contains("partner"));
  CHECK_THAT(refusal("ab[c-"), Catch::Contains("at byte 2: the class has no end"));
  CHECK_THAT(refusal("a**"), Catch::Contains("at byte 1: two repetitions in a row ('**')"));
  CHECK_THAT(refusal("+a"), Catch::Contains("at byte 0: nothing to repeat"));
  CHECK_THAT(refusal("a{2000}"), Catch::Contains("at byte 1: more than 1000 repetitions"));
  CHECK_THAT(refusal("a\\"), Catch::Contains("at byte 1: nothing follows the backslash"));
  CHECK_THAT(refusal("(?<=a)b"), Catch::Contains("at byte 0: no such group; look-around"));
  CHECK_THAT(refusal("a\\yb"), Catch::Contains("at byte 1: no such escape"));
  CHECK_THAT(refusal("[z-a]"), Catch::Contains("no such range"));
}

TEST_CASE("Pattern: one that needs too much memory is refused as too large", "[unit][search]") {
  const auto compiled = Pattern::compile({.pattern = "\\pL{1000}"});
  REQUIRE_FALSE(compiled);
  CHECK(compiled.error().code() == ErrorCode::kTooLarge);
}

TEST_CASE("Pattern: nested quantifiers take linear time", "[unit][search]") {
  const std::string text(200'000, 'x');
  for (const char* pattern : {"(x+x+)+y", "(x*)*y", "(x|xx)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"}) {
    INFO(pattern);
    CHECK(matching_lines({.pattern = pattern}, text).empty());
  }
}

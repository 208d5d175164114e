#include "tools/answers/search_answers.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::tools;
using Catch::Contains;

namespace {

GrepLine line(std::uint64_t number, const std::string& text, bool is_context) {
  GrepLine made;
  made.path = "w";
  made.line = number;
  made.text = text;
  made.is_context = is_context;
  return made;
}

/// A match in line 100, and `context` wide lines on both sides of it.
GrepResult match_in(std::uint64_t context) {
  GrepResult result;
  const std::string wide(600, 'x');
  for (std::uint64_t i = 100 - context; i < 100; ++i) result.lines.push_back(line(i, wide, true));
  result.lines.push_back(line(100, "MATCH", false));
  for (std::uint64_t i = 101; i <= 100 + context; ++i) {
    result.lines.push_back(line(i, wide, true));
  }
  return result;
}

std::string text_of(const Answer& answer) { return result_of(answer, {}).text; }

}  // namespace

TEST_CASE("Search answers: a match is shown whatever context it has", "[unit][tools]") {
  const SearchPlace place{"d", false, 0, 100};
  const std::string text = text_of(grep_answer(place, match_in(99)));
  CHECK(text.starts_with("d/w:100: MATCH\nd/w-101- xxx"));
  CHECK_THAT(text, Contains("[Context was cut to fit; use a smaller context.]"));
  CHECK_THAT(text, !Contains("offset="));
  CHECK(text_of(grep_answer(place, match_in(2))).find("[") == std::string::npos);
}

TEST_CASE("Search answers: matches that do not fit are named by an offset that goes on",
          "[unit][tools]") {
  SearchPlace place{"d", false, 0, 100};
  GrepResult result = match_in(40);
  const GrepResult again = match_in(40);
  result.lines.insert(result.lines.end(), again.lines.begin(), again.lines.end());
  const Answer first = grep_answer(place, result);
  CHECK(first.data.at("next_offset") == 1);
  CHECK_THAT(text_of(first), Contains("Showing 1 match; an answer has at most"));
  place.offset = 1;
  const Answer second = grep_answer(place, result);
  CHECK_THAT(second.text, Contains("d/w:100: MATCH"));
  CHECK(second.data.at("next_offset").is_null());
}

TEST_CASE("Search answers: what could not be read has a path that can be given back",
          "[unit][tools]") {
  GrepResult lines;
  lines.summary.problem_count = 1;
  lines.summary.problems = {{"priv", ErrorCode::kPermissionDenied, "permission denied"}};
  const SearchPlace place{"s/", false, 0, 100};
  CHECK_THAT(text_of(grep_answer(place, lines)), Contains("s/priv (permission denied)"));
  FindResult names;
  names.summary = lines.summary;
  CHECK_THAT(text_of(find_answer(place, names)), Contains("s/priv (permission denied)"));
}

TEST_CASE("Search answers: of more names than fit it says how many, and where to go on",
          "[unit][tools]") {
  FindResult names;
  for (int i = 0; i < 2100; ++i) names.entries.push_back({std::to_string(i), {}, {}});
  SearchPlace place{".", false, 0, 5000};
  const Answer answer = find_answer(place, names);
  CHECK_THAT(text_of(answer), Contains("[Showing 2000 results; an answer has at most 2,000 lines"));
  CHECK(answer.data.at("next_offset") == 2000);
  place.offset = 2000;
  CHECK(find_answer(place, names).text.starts_with("2000\n"));
  place = {".", false, 0, 1};
  names.summary.ended = SearchEnd::kLimit;
  names.entries.resize(1);
  CHECK_THAT(text_of(find_answer(place, names)), Contains("[1 result limit reached. Use offset=1"));
}

#include "agent/edits/text_edits.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using namespace cove::agent;
using Catch::Matchers::Contains;

namespace {

Result<EditedText> edit(const std::string& text, const std::vector<Edit>& edits) {
  COVE_TRY_VOID(check_edits(edits));
  return apply_edits(text, edits, "'a.txt'");
}

std::string edited(const std::string& text, const std::vector<Edit>& edits) {
  return edit(text, edits).value().text;
}

Error refused(const std::string& text, const std::vector<Edit>& edits) {
  const auto result = edit(text, edits);
  REQUIRE_FALSE(result);
  return result.error();
}

}  // namespace

TEST_CASE("Edit: one place is replaced, and its line is told", "[unit][agent][files]") {
  const auto result = edit("one\ntwo\nthree\n", {{"two", "2"}}).value();
  CHECK(result.text == "one\n2\nthree\n");
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].replaced == 1);
  CHECK(result.outcomes[0].first_line == 2);
}

TEST_CASE("Edit: edits are applied in order, each to what the one before made",
          "[unit][agent][files]") {
  CHECK(edited("a", {{"a", "b"}, {"b", "cc"}, {"cc", "d"}}) == "d");
}

TEST_CASE("Edit: replace_all replaces every place and counts them", "[unit][agent][files]") {
  const auto result = edit("x\naxa\nxx", {{"x", "yy", true}}).value();
  CHECK(result.text == "yy\nayya\nyyyy");
  CHECK(result.outcomes[0].replaced == 4);
  CHECK(result.outcomes[0].first_line == 1);
  CHECK(edited("aaaa", {{"aa", "a", true}}) == "aa");
}

TEST_CASE("Edit: a CRLF file stays one, and is matched by LF texts [pain-58]",
          "[unit][agent][files]") {
  const std::string file = "one\r\ntwo\r\nthree\r\n";
  CHECK(edited(file, {{"one\ntwo\n", "1\n2\n3\n"}}) == "1\r\n2\r\n3\r\nthree\r\n");
  CHECK(edited(file, {{"two\r\nthree", "2\n3"}}) == "one\r\n2\r\n3\r\n");
  CHECK(edited(file, {{"two", "a\r\nb"}}) == "one\r\na\r\nb\r\nthree\r\n");
  CHECK(edited(file, {{"\ntwo\n", "\n"}}) == "one\r\nthree\r\n");
  CHECK(edit(file, {{"three\n", ""}}).value().outcomes[0].first_line == 3);
}

TEST_CASE("Edit: an LF file stays one, also under a CRLF text [pain-58]", "[unit][agent][files]") {
  CHECK(edited("one\ntwo\n", {{"one\r\ntwo", "1\r\n2"}}) == "1\n2\n");
  CHECK(edited("no line end", {{"no line", "a\r\nline"}}) == "a\r\nline end");
}

TEST_CASE("Edit: of mixed line ends each line keeps its own, and new ones are as those replaced",
          "[unit][agent][files]") {
  CHECK(edited("a\r\nb\nc\r\nd\r\ne", {{"b\nc", "x\ny"}}) == "a\r\nx\ny\r\nd\r\ne");
  CHECK(edited("a\nb\nc\nd\r\ne", {{"d\ne", "x\ny"}}) == "a\nb\nc\nx\r\ny");
  CHECK(edited("a\nb\nc\r\nd\n", {{"c", "x\ny"}}) == "a\nb\nx\r\ny\r\nd\n");
  CHECK(edited("a\nb\r\nc", {{"c", "x\ny"}}) == "a\nb\r\nx\r\ny");
  CHECK(edited("a\nb\r\nc\nd", {{"a\nb\nc", "a\nnew\nb\nc"}}) == "a\nnew\nb\r\nc\nd");
  CHECK(edited("a\r\na\n", {{"a\n", "b\n", true}}) == "b\r\nb\n");
  CHECK(edited("a\nb\nc\r\nd\n", {{"b", "x\ny"}}) == "a\nx\ny\nc\r\nd\n");
  CHECK(edited("a\r\r\nb\rc\r\n", {{"b\rc", "d"}}) == "a\r\r\nd\r\n");
}

TEST_CASE("Edit: of UTF-16 it says that it is", "[unit][agent][files]") {
  CHECK_THAT(refused("\xFF\xFEh\x01", {{"hello", ""}}).message(), Contains("which is UTF-16"));
}

TEST_CASE("Edit: a byte order mark and a missing final line end stay", "[unit][agent][files]") {
  CHECK(edited("\xEF\xBB\xBFone\ntwo", {{"one", "1"}}) ==
        "\xEF\xBB\xBF"
        "1\ntwo");
  CHECK(edited("\xEF\xBB\xBFone\r\ntwo", {{"two", "2"}}) == "\xEF\xBB\xBFone\r\n2");
}

TEST_CASE("Edit: bytes that are no text are replaced exactly", "[unit][agent][files]") {
  const std::string file("\0\xff\0\x01", 4);
  CHECK(edited(file, {{std::string("\xff\0", 2), std::string("\0\0\0", 3)}}) ==
        std::string("\0\0\0\0\x01", 5));
}

TEST_CASE("Edit: several matches are refused with their lines", "[unit][agent][files]") {
  const Error error = refused("x\ny\nx\n", {{"y", "z"}, {"x", "z"}});
  CHECK(error.code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(error.message(), Contains("2 times, at lines 1, 3"));
  REQUIRE(error.context().size() == 1);
  CHECK(error.context()[0] == std::pair<std::string, std::string>("edit", "2"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "x\n";
  CHECK_THAT(refused(many, {{"x", "z"}}).message(), Contains("19, 20, ..."));
}

TEST_CASE("Edit: a text that is not there is refused with the nearest lines",
          "[unit][agent][files]") {
  const std::string file = "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return a - b\n";
  const Error error = refused(file, {{"    return a * b\n", ""}});
  CHECK(error.code() == ErrorCode::kFailedPrecondition);
  CHECK_THAT(error.message(), Contains("line 2 is '    return a + b'"));
  CHECK_THAT(error.message(), Contains("line 5 is '    return a - b'"));
  const Error block = refused(file, {{"def sub(a, b):\n    return b - a\n", ""}});
  CHECK_THAT(block.message(),
             Contains("line 5 is '    return a - b' where old_text has '    return b - a'"));
  const Error indented = refused(file, {{"\treturn a + b\n", ""}});
  CHECK_THAT(indented.message(), Contains("only the white space differs"));
  CHECK_THAT(refused("", {{"x", ""}}).message(), Contains("the file is empty"));
  CHECK_THAT(refused("zzz", {{"completely different", ""}}).message(), Contains("no line"));
}

TEST_CASE("Edit: looking for near lines in a large file of one line ends soon",
          "[unit][agent][files]") {
  const Error error = refused(std::string(60U << 20U, 'a'), {{"b", "c"}});
  CHECK(error.code() == ErrorCode::kFailedPrecondition);
}

TEST_CASE("Edit: what is wrong as written is refused", "[unit][agent][files]") {
  CHECK(refused("a", {}).code() == ErrorCode::kInvalidArgument);
  CHECK(refused("a", {{"a", "b"}, {"", "c"}}).code() == ErrorCode::kInvalidArgument);
  CHECK(refused("a", {{"", "c"}}).context()[0].second == "1");
  CHECK(refused("a", std::vector<Edit>(1001, Edit{"a", "a"})).code() == ErrorCode::kTooLarge);
  const std::string large((16U << 20U) + 1, 'x');
  CHECK(refused("a", {{"a", large}}).code() == ErrorCode::kTooLarge);
  const std::string many(200'000, 'x');
  CHECK(refused(many, {{"x", std::string(1000, 'y'), true}}).code() == ErrorCode::kTooLarge);
}

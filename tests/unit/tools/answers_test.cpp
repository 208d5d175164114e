#include <catch2/catch.hpp>

#include "base/text/joined_path.hpp"
#include "tools/answers/answer.hpp"
#include "tools/answers/extract.hpp"
#include "tools/answers/names.hpp"

using namespace cove;
using namespace cove::tools;

TEST_CASE("Tool answers: at most 2,000 lines and 50 KiB, whole lines, from either end",
          "[unit][tools]") {
  std::string lines;
  for (int i = 1; i <= 3000; ++i) lines += std::to_string(i) + "\n";
  CHECK(head_of(lines).ends_with("\n2000\n"));
  CHECK(count_lines(head_of(lines)) == 2000);
  CHECK(tail_of(lines).starts_with("1001\n"));
  CHECK(count_lines(tail_of(lines)) == 2000);
  const std::string wide(100, 'x');
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += wide + "\n";
  CHECK(head_of(bytes).size() == 506 * 101);
  CHECK(tail_of(bytes).size() == 506 * 101);
  CHECK(head_of("").empty());
  CHECK(tail_of("a\nb") == "a\nb");
}

TEST_CASE("Tool answers: one line that is too long is cut between characters [pain-52]",
          "[unit][tools][pain-52]") {
  std::string line;
  for (int i = 0; i < 20'000; ++i) line += "\xE6\x95\xB0";
  CHECK(head_of(line).size() == kMostBytes - kMostBytes % 3);
  CHECK(tail_of(line).size() == kMostBytes - kMostBytes % 3);
  CHECK(tail_of(line).starts_with("\xE6\x95\xB0"));
}

TEST_CASE("Tool answers: a name that is shown is one line and comes back to the same bytes",
          "[unit][tools]") {
  for (const std::string& name : {std::string("a\nb"), std::string("caf\xe9"),
                                  std::string("a\\xe9"), std::string("\x7f\t")}) {
    const std::string shown = shown_name(name);
    CHECK(shown.find('\n') == std::string::npos);
    CHECK(base::name_bytes(shown) == name);
  }
}

TEST_CASE("Tool answers: a path is one word for a shell", "[unit][tools]") {
  CHECK(shell_word("src/a.py") == "src/a.py");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$(x)") == "'$(x)'");
  CHECK(shell_word("-rf") == "./-rf");
  CHECK(shell_word("caf\xe9") == "$'caf\\xe9'");
  CHECK(shell_word("a\n'b") == "$'a\\x0a\\'b'");
}

TEST_CASE("Tool answers: found paths can be used where the searched one could", "[unit][tools]") {
  CHECK(base::joined_path(".", "a") == "a");
  CHECK(base::joined_path("src/", "a") == "src/a");
  CHECK(base::joined_path("/workspace", "a") == "/workspace/a");
  CHECK(last_name("src/a/") == "a");
}

TEST_CASE("Tool answers: an error says what to do, its own hint first", "[unit][tools]") {
  const Error busy =
      Error(ErrorCode::kUnavailable, "it sleeps").with_retry_after(std::chrono::milliseconds(1500));
  CHECK(error_answer(busy).text == "Error: it sleeps\nTry the same call again in 2 s.");
  CHECK(error_data(busy).at("retry_after_ms") == 1500);
  const Error gone = with_hint(Error(ErrorCode::kNotFound, "no 'x'"), "Make it.");
  CHECK(error_answer(with_hint(gone, "Another.")).text == "Error: no 'x'\nMake it.");
  CHECK(error_answer(gone).is_error);
}

TEST_CASE("Tool answers: notices stand below the text, in brackets", "[unit][tools]") {
  Answer answer;
  answer.text = "a\n";
  answer.notices = {"more"};
  const ToolResult result = result_of(answer, {"n"});
  CHECK(result.text == "a\n\n[more]\n\n[Arguments: n]");
  CHECK(result.data == R"({"notes":["n"]})");
}

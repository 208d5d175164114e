#include <catch2/catch.hpp>

#include <cove/exec.hpp>

#include "base/text/utf8.hpp"

using namespace cove;

TEST_CASE("marked_utf8: bytes that are no UTF-8 are written out, all else stays", "[unit][base]") {
  CHECK(base::marked_utf8("plain \\x41 数据\n") == "plain \\x41 数据\n");
  CHECK(base::marked_utf8("a\xff") == "a\\xff");
  CHECK(base::marked_utf8("\xe6\x95") == "\\xe6\\x95");
  CHECK(base::marked_utf8("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(base::marked_utf8("\xc3\xa9\xc3") == "\xc3\xa9\\xc3");
}

TEST_CASE("StreamOutput: text says how much is missing, on a line of its own", "[unit][base]") {
  StreamOutput output;
  output.head = "one\ntw";
  output.tail = "nine\n";
  output.dropped_bytes = 20;
  CHECK(output.text() == "one\ntw\n[20 bytes left out]\nnine\n");
  output.head = "one\n";
  CHECK(output.text() == "one\n[20 bytes left out]\nnine\n");
  output.head.clear();
  CHECK(output.text() == "[20 bytes left out]\nnine\n");
  output = StreamOutput();
  output.head = "a\x80";
  CHECK(output.text() == "a\\x80");
}

TEST_CASE("ExecResult: the shell's code of each outcome", "[unit][base]") {
  const auto code = [](Outcome outcome) { return ExecResult{.outcome = outcome}.shell_code(); };
  CHECK(code(Exited{7}) == 7);
  CHECK(code(Signaled{9}) == 137);
  CHECK(code(TimedOut{true}) == 124);
  CHECK(code(Cancelled{}) == 130);
  CHECK(code(OutputLimitReached{}) == 137);
  CHECK(code(OutOfMemory{}) == 137);
  CHECK(code(CpuLimitReached{}) == 137);
}

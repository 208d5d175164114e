#include "agent/files/line_reader.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
using cove::agent::testing::WorkspaceFixture;

namespace {

Result<LineSlice> lines(const WorkspaceFixture& w, const LineRange& range) {
  COVE_TRY(const auto reader, w.files().open_lines({"", "file"}, range));
  for (;;) {
    COVE_TRY(const bool done, reader->step());
    if (done) return reader->take();
  }
}

LineSlice lines_of(const std::string& content, const LineRange& range) {
  const WorkspaceFixture w;
  w.put(w.workspace() / "file", content);
  return lines(w, range).value();
}

}  // namespace

TEST_CASE("Lines: a range is given with what follows it and the total", "[unit][agent][files]") {
  const LineSlice slice = lines_of("1\n2\n3\n4\n", {.first = 2, .count = 2});
  CHECK(slice.text == "2\n3\n");
  CHECK(slice.first == 2);
  CHECK(slice.count == 2);
  CHECK(slice.next == 4U);
  CHECK(slice.total_lines == 4U);
  CHECK(slice.offset == 2);
  CHECK_FALSE(slice.cut);
  CHECK(slice.content_type == "text/plain; charset=utf-8");
  CHECK(slice.info.size == 8);
}

TEST_CASE("Lines: the last line counts with and without its line end", "[unit][agent][files]") {
  for (const std::string end : {"", "\n"}) {
    const LineSlice slice = lines_of("a\r\nb" + end, {.first = 1, .count = 10});
    CHECK(slice.text == "a\r\nb" + end);
    CHECK(slice.count == 2);
    CHECK_FALSE(slice.next);
    CHECK(slice.total_lines == 2U);
    CHECK_FALSE(lines_of("a\nb" + end, {.first = 2, .count = 1}).next);
  }
}

TEST_CASE("Lines: an empty file has none, and past the end there are none",
          "[unit][agent][files]") {
  const LineSlice empty = lines_of("", {});
  CHECK(empty.text.empty());
  CHECK(empty.total_lines == 0U);
  CHECK_FALSE(empty.next);
  const LineSlice past = lines_of("a\nb\n", {.first = 7});
  CHECK(past.text.empty());
  CHECK(past.count == 0);
  CHECK(past.first == 7);
  CHECK(past.total_lines == 2U);
  CHECK_FALSE(past.next);
}

TEST_CASE("Lines: the byte limit gives whole lines", "[unit][agent][files]") {
  const LineSlice slice = lines_of("aaaa\nbbbb\ncccc\n", {.first = 1, .count = 9, .max_bytes = 12});
  CHECK(slice.text == "aaaa\nbbbb\n");
  CHECK(slice.count == 2);
  CHECK(slice.next == 3U);
  CHECK(slice.total_lines == 3U);
  CHECK_FALSE(slice.cut);
}

TEST_CASE("Lines: a line over the limit is cut between characters and says where it goes on",
          "[unit][agent][files]") {
  const std::string line = "xé漢😀";  // 1 + 2 + 3 + 4 bytes
  const LineSlice slice =
      lines_of("a\n" + line + "\nb\n", {.first = 2, .count = 5, .max_bytes = 8});
  CHECK(slice.cut);
  CHECK(slice.text == "xé漢");
  CHECK(slice.offset == 2);
  CHECK(slice.count == 1);
  CHECK(slice.next == 3U);
  CHECK(slice.total_lines == 3U);
  const LineSlice last = lines_of(std::string(100, 'x'), {.first = 1, .count = 5, .max_bytes = 8});
  CHECK(last.cut);
  CHECK(last.text.size() == 8);
  CHECK_FALSE(last.next);
}

TEST_CASE("Lines: every way through buffers of a large file finds the same lines",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  std::string content;
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; content.size() < 3'000'000; ++i) {
    begins.push_back(content.size());
    content += std::to_string(i) + std::string(i % 977, 'x') + "\n";
  }
  w.put(w.workspace() / "file", content);
  begins.push_back(content.size());
  for (std::size_t first = 1; first < begins.size(); first += 457) {
    const std::size_t count = std::min<std::size_t>(begins.size() - first, 300);
    const auto slice = lines(w, {.first = first, .count = count, .max_bytes = 8U << 20U}).value();
    const std::size_t from = begins[first - 1];
    REQUIRE(slice.text == content.substr(from, begins[first - 1 + count] - from));
    REQUIRE(slice.offset == from);
    REQUIRE(slice.total_lines == begins.size() - 1);
  }
}

TEST_CASE("Lines: a file of 10 GB is sliced in little memory", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "file", "first\nsecond\n");
  const std::string path = (w.workspace() / "file").string();
  REQUIRE(::truncate(path.c_str(), 10'000'000'000) == 0);
  const auto near = lines(w, {.first = 2, .count = 1}).value();
  CHECK(near.text == "second\n");
  CHECK(near.next == 3U);
  CHECK_FALSE(near.total_lines);  // too far away to count
  const auto cut = lines(w, {.first = 3, .count = 1, .max_bytes = 100}).value();
  CHECK(cut.cut);
  CHECK(cut.text.size() == 100);
}

TEST_CASE("Lines: bad ranges and what is no file are refused", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "file", "a\n");
  CHECK(w.code_of(lines(w, {.first = 0})) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(lines(w, {.first = 1, .count = 0})) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(lines(w, {.first = 1, .count = 1, .max_bytes = 3})) ==
        ErrorCode::kInvalidArgument);
  CHECK(w.code_of(w.files().open_lines({"", ""}, {})) == ErrorCode::kFailedPrecondition);
  REQUIRE(::mkfifo((w.workspace() / "fifo").c_str(), 0600) == 0);
  CHECK(w.code_of(w.files().open_lines({"", "fifo"}, {})) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(w.files().open_lines({"", "../outside/secret"}, {})) == ErrorCode::kPathEscape);
}

#include "wire/search_batch.hpp"

#include <catch2/catch.hpp>

#include "wire/request.hpp"
#include "wire/search_request.hpp"

using namespace cove;

namespace {

Bytes some_lines() {
  wire::LinePacker packer;
  packer.begin("src/\xff.py", TextEncoding::kUtf16Le);
  const TextSpan spans[] = {{0, 3}, {4, 2}};
  packer.add({.line = 7,
              .column = 12,
              .text = "abc de",
              .submatches = spans,
              .submatch_count = 2,
              .cut = true,
              .text_offset = 11});
  packer.add({.line = 300, .text = ""});
  return packer.take();
}

}  // namespace

TEST_CASE("Search batch: lines come out as they were packed", "[unit][search]") {
  Bytes bytes = some_lines();
  const Bytes again = some_lines();
  bytes.insert(bytes.end(), again.begin(), again.end());
  const auto lines = wire::unpack_lines(bytes).value();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].path == "src/\xff.py");
  CHECK(lines[0].encoding == TextEncoding::kUtf16Le);
  CHECK(lines[0].line == 7);
  CHECK(lines[0].column == 12);
  CHECK(lines[0].text == "abc de");
  CHECK(lines[0].cut);
  CHECK(lines[0].text_offset == 11);
  REQUIRE(lines[0].submatches.size() == 2);
  CHECK(lines[0].submatches[1].offset == 4);
  CHECK(lines[1].is_context);
  CHECK(lines[1].line == 300);
  CHECK(lines[3].is_context);
}

TEST_CASE("Search batch: entries come out as they were packed", "[unit][search]") {
  Bytes bytes;
  FileInfo facts;
  facts.type = FileType::kSymlink;
  facts.size = 1ULL << 40;
  facts.mode = 0755;
  facts.modified = std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(-5));
  facts.link_target = "t";
  facts.etag = "1-2-3";
  wire::pack_entry(bytes, "a\nb", FileType::kSymlink, &facts);
  wire::pack_entry(bytes, "c", FileType::kOther, nullptr);
  const auto entries = wire::unpack_entries(bytes).value();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].path == "a\nb");
  REQUIRE(entries[0].facts);
  CHECK(entries[0].facts->size == 1ULL << 40);
  CHECK(entries[0].facts->mode == 0755);
  CHECK(entries[0].facts->modified.time_since_epoch().count() == -5);
  CHECK(entries[0].facts->link_target == "t");
  CHECK(entries[0].facts->etag == "1-2-3");
  CHECK_FALSE(entries[1].facts);
}

TEST_CASE("Search batch: an etag that is no short word is refused", "[unit][search]") {
  for (const std::string& etag : {std::string("a\x1b[2J"), std::string(201, 'a')}) {
    FileInfo facts;
    facts.etag = etag;
    Bytes bytes;
    wire::pack_entry(bytes, "a", FileType::kRegular, &facts);
    CHECK_FALSE(wire::unpack_entries(bytes));
  }
}

TEST_CASE("Search batch: what is cut short anywhere is refused", "[unit][search]") {
  const Bytes bytes = some_lines();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto lines = wire::unpack_lines(ByteView(bytes).first(size));
    REQUIRE_FALSE(lines);
    CHECK(lines.error().code() == ErrorCode::kIntegrity);
  }
}

TEST_CASE("Search batch: a submatch outside its text is refused", "[unit][search]") {
  wire::LinePacker packer;
  packer.begin("f", TextEncoding::kBytes);
  const TextSpan span{2, 2};
  packer.add({.line = 1, .column = 1, .text = "abc", .submatches = &span, .submatch_count = 1});
  CHECK_FALSE(wire::unpack_lines(packer.take()));
}

TEST_CASE("Search batch: a long path that many lines would multiply is refused", "[unit][search]") {
  wire::LinePacker packer;
  packer.begin(std::string(100'000, 'p'), TextEncoding::kBytes);
  for (int i = 0; i < 2'000; ++i) packer.add({.line = 1, .text = ""});
  const auto lines = wire::unpack_lines(packer.take());
  REQUIRE_FALSE(lines);
  CHECK(lines.error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Search requests: every field arrives", "[unit][search]") {
  wire::Request request;
  request.body = wire::GrepRequest{{{"s", "p"}, std::chrono::milliseconds(1'500), 99},
                                   {.pattern = "\xff(",
                                    .literal = true,
                                    .ignore_case = true,
                                    .whole_word = true,
                                    .context_before = 1,
                                    .context_after = 2,
                                    .include = {"a", "b"},
                                    .exclude = {"c"},
                                    .use_ignore_files = false,
                                    .hidden = true,
                                    .max_file_bytes = 5,
                                    .limit = std::nullopt,
                                    .max_line_bytes = 77}};
  const auto parsed = wire::parse_request(wire::encode_request(request).value()).value();
  const auto& grep = std::get<wire::GrepRequest>(parsed.body);
  CHECK(grep.start.path.session == "s");
  CHECK(grep.start.time == std::chrono::milliseconds(1'500));
  CHECK(grep.start.credit == 99);
  CHECK(grep.query.pattern == "\xff(");
  CHECK((grep.query.literal && grep.query.ignore_case && grep.query.whole_word));
  CHECK(grep.query.context_before == 1);
  CHECK(grep.query.context_after == 2);
  CHECK(grep.query.include == std::vector<std::string>{"a", "b"});
  CHECK(grep.query.exclude == std::vector<std::string>{"c"});
  CHECK_FALSE(grep.query.use_ignore_files);
  CHECK(grep.query.hidden);
  CHECK(grep.query.max_file_bytes == 5U);
  CHECK_FALSE(grep.query.limit);
  CHECK(grep.query.max_line_bytes == 77);

  using Time = std::chrono::sys_time<std::chrono::nanoseconds>;
  request.body = wire::FindRequest{{{"", "."}, {}, 1},
                                   {.glob = "*",
                                    .type = FileType::kSymlink,
                                    .exclude = {"x"},
                                    .min_size = 1,
                                    .max_size = 2,
                                    .modified_from = Time(std::chrono::nanoseconds(3)),
                                    .use_ignore_files = false,
                                    .hidden = true,
                                    .max_depth = 4,
                                    .limit = 5,
                                    .newest_first = true,
                                    .facts = true}};
  const auto again = wire::parse_request(wire::encode_request(request).value()).value();
  const auto& find = std::get<wire::FindRequest>(again.body).query;
  CHECK(find.glob == "*");
  CHECK(find.type == FileType::kSymlink);
  CHECK(find.min_size == 1U);
  CHECK(find.max_size == 2U);
  CHECK(find.modified_from->time_since_epoch().count() == 3);
  CHECK_FALSE(find.modified_until);
  CHECK(find.max_depth == 4U);
  CHECK(find.limit == 5U);
  CHECK((find.newest_first && find.facts && find.hidden && !find.use_ignore_files));
}

TEST_CASE("Search summary: it arrives whole, with at most 16 problems", "[unit][search]") {
  SearchSummary summary{.ended = SearchEnd::kDeadline,
                        .matches = 1,
                        .files_searched = 2,
                        .files_matched = 3,
                        .files_binary = 4,
                        .files_too_large = 5,
                        .problem_count = 40};
  for (int i = 0; i < 40; ++i) {
    summary.problems.push_back(
        {std::string(5'000, '\xff'), ErrorCode::kPermissionDenied, std::string(5'000, 'm')});
  }
  const auto parsed = wire::parse_search_summary(wire::encode_search_summary(summary)).value();
  CHECK(parsed.ended == SearchEnd::kDeadline);
  CHECK(parsed.files_too_large == 5);
  CHECK(parsed.problem_count == 40);
  REQUIRE(parsed.problems.size() == 16);
  CHECK(parsed.problems[0].path == std::string(1'024, '\xff'));
  CHECK(parsed.problems[0].code == ErrorCode::kPermissionDenied);
}

/// Searches: what they take, what they give at once, and what they give as they go.
#include "support.hpp"

using namespace cove;

namespace {

using GrepHandle = std::unique_ptr<cove_grep_result, FreeBy<cove_grep_result_free>>;
using FindHandle = std::unique_ptr<cove_find_result, FreeBy<cove_find_result_free>>;
using SearchOwner = std::unique_ptr<cove_search, FreeBy<cove_search_free>>;

int32_t on_lines(void* user_data, const cove_grep_lines* lines) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.order += 'l';
  for (size_t i = 0; i < cove_grep_lines_count(lines); ++i) {
    heard.text += cove_grep_line_text(cove_grep_lines_entry(lines, i), nullptr);
  }
  return cove_grep_lines_count(lines) > 1 ? COVE_PAUSE : COVE_CONTINUE;
}

int32_t on_entries(void* user_data, const cove_find_entries* entries) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.order += 'e';
  heard.text += cove_find_entry_path(cove_find_entries_entry(entries, 0));
  return COVE_CONTINUE;
}

void on_summary(void* user_data, cove_search_summary* summary, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text += std::to_string(cove_search_summary_matches(summary));
  cove_search_summary_free(summary);
  note_error(heard, error);
}

cove_grep_callbacks grep_callbacks_to(Heard* heard) {
  return {sizeof(cove_grep_callbacks), 0, on_lines, on_summary, heard, on_drop};
}

cove_find_callbacks find_callbacks_to(Heard* heard) {
  return {sizeof(cove_find_callbacks), 0, on_entries, on_summary, heard, on_drop};
}

GrepLine line_of(std::string text) {
  GrepLine line;
  line.path = "src/\xff.py";
  line.line = 7;
  line.column = 3;
  line.text = std::move(text);
  line.submatches = {{2, 1}, {4, 5}};
  line.cut = true;
  line.text_offset = 100;
  line.encoding = TextEncoding::kUtf16Le;
  return line;
}

SearchSummary summary_of(std::uint64_t matches) {
  SearchSummary summary;
  summary.ended = SearchEnd::kDeadline;
  summary.matches = matches;
  summary.files_searched = 2;
  summary.files_matched = 3;
  summary.files_binary = 4;
  summary.files_too_large = 5;
  summary.problem_count = 6;
  summary.problems = {{"secret", ErrorCode::kPermissionDenied, "may not be read"}};
  return summary;
}

}  // namespace

TEST_CASE("Search: every field of a grep arrives", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  const char* const include[] = {"*.py", "*.cc"};
  const char* const exclude[] = {"vendor"};
  cove_grep_options options = COVE_GREP_OPTIONS_INIT;
  options.flags = COVE_GREP_LITERAL | COVE_GREP_IGNORE_CASE | COVE_GREP_WHOLE_WORD |
                  COVE_GREP_HIDDEN | COVE_GREP_NO_IGNORE_FILES;
  options.context_before = 1;
  options.context_after = 2;
  options.include = include;
  options.include_count = 2;
  options.exclude = exclude;
  options.exclude_count = 1;
  options.max_file_bytes = 3;
  options.limit = 4;
  options.max_line_bytes = 16;
  options.timeout_ms = 60000;
  cove_grep_result* raw = nullptr;
  REQUIRE(cove_workspace_grep(workspace.get(), "src", "TODO", &options, &raw, nullptr) == COVE_OK);
  cove_grep_result_free(raw);
  const GrepQuery& query = fake::world().grep;
  CHECK(fake::world().path == "src");
  CHECK(fake::world().call.deadline);
  CHECK(query.pattern == "TODO");
  CHECK(query.literal);
  CHECK(query.ignore_case);
  CHECK(query.whole_word);
  CHECK(query.hidden);
  CHECK_FALSE(query.use_ignore_files);
  CHECK(query.context_before == 1);
  CHECK(query.context_after == 2);
  CHECK(query.include == std::vector<std::string>{"*.py", "*.cc"});
  CHECK(query.exclude == std::vector<std::string>{"vendor"});
  CHECK(query.max_file_bytes == 3U);
  CHECK(query.limit == 4U);
  CHECK(query.max_line_bytes == 16);
}

TEST_CASE("Search: no options are the query's own defaults", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_grep_result* grep = nullptr;
  REQUIRE(cove_workspace_grep(workspace.get(), ".", "x", nullptr, &grep, nullptr) == COVE_OK);
  cove_grep_result_free(grep);
  const GrepQuery lines;
  CHECK_FALSE(fake::world().grep.literal);
  CHECK(fake::world().grep.use_ignore_files);
  CHECK(fake::world().grep.limit == lines.limit);
  CHECK(fake::world().grep.max_line_bytes == lines.max_line_bytes);
  CHECK_FALSE(fake::world().grep.max_file_bytes);
  cove_find_result* find = nullptr;
  REQUIRE(cove_workspace_find(workspace.get(), ".", nullptr, &find, nullptr) == COVE_OK);
  cove_find_result_free(find);
  const FindQuery names;
  CHECK(fake::world().find.glob.empty());
  CHECK(fake::world().find.use_ignore_files);
  CHECK(fake::world().find.limit == names.limit);
  CHECK_FALSE(fake::world().find.type);
  CHECK_FALSE(fake::world().find.min_size);
  CHECK_FALSE(fake::world().find.max_size);
  CHECK_FALSE(fake::world().find.modified_from);
  CHECK_FALSE(fake::world().find.modified_until);
  CHECK_FALSE(fake::world().find.max_depth);
}

TEST_CASE("Search: every field of a find arrives", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  const char* const exclude[] = {"vendor"};
  cove_find_options options = COVE_FIND_OPTIONS_INIT;
  options.flags =
      COVE_FIND_HIDDEN | COVE_FIND_NO_IGNORE_FILES | COVE_FIND_NEWEST_FIRST | COVE_FIND_FACTS;
  options.glob = "**/*_test.cc";
  options.type = COVE_FILE_REGULAR;
  options.max_depth = 2;
  options.exclude = exclude;
  options.exclude_count = 1;
  options.min_bytes = 3;
  options.max_bytes = COVE_BYTES_NONE;
  options.modified_from_ns = -5;
  options.modified_until_ns = 6;
  options.limit = 7;
  cove_find_result* raw = nullptr;
  REQUIRE(cove_workspace_find(workspace.get(), "src", &options, &raw, nullptr) == COVE_OK);
  cove_find_result_free(raw);
  const FindQuery& query = fake::world().find;
  CHECK(fake::world().path == "src");
  CHECK(query.glob == "**/*_test.cc");
  CHECK(query.type == FileType::kRegular);
  CHECK(query.max_depth == 2U);
  CHECK(query.exclude == std::vector<std::string>{"vendor"});
  CHECK(query.min_size == 3U);
  CHECK(query.max_size == 0U);
  REQUIRE(query.modified_from);
  CHECK(query.modified_from->time_since_epoch().count() == -5);
  REQUIRE(query.modified_until);
  CHECK(query.modified_until->time_since_epoch().count() == 6);
  CHECK(query.limit == 7U);
  CHECK(query.hidden);
  CHECK_FALSE(query.use_ignore_files);
  CHECK(query.newest_first);
  CHECK(query.facts);
  options.type = 5;
  CHECK(cove_workspace_find(workspace.get(), "src", &options, &raw, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(raw == nullptr);
}

TEST_CASE("Search: a grep's lines and summary are given whole", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  GrepLine beside;
  beside.is_context = true;
  fake::world().lines = {{line_of(std::string("a\0b", 3)), beside}, summary_of(1)};
  cove_grep_result* raw = nullptr;
  REQUIRE(cove_workspace_grep(workspace.get(), ".", "x", nullptr, &raw, nullptr) == COVE_OK);
  const GrepHandle result(raw);
  const cove_grep_lines* const lines = cove_grep_result_lines(raw);
  REQUIRE(cove_grep_lines_count(lines) == 2);
  const cove_grep_line* const line = cove_grep_lines_entry(lines, 0);
  CHECK(std::string(cove_grep_line_path(line)) == "src/\xff.py");
  CHECK(cove_grep_line_number(line) == 7);
  CHECK(cove_grep_line_column(line) == 3);
  size_t size = 0;
  const char* const text = cove_grep_line_text(line, &size);
  CHECK(std::string(text, size) == std::string("a\0b", 3));
  CHECK(cove_grep_line_text_offset(line) == 100);
  REQUIRE(cove_grep_line_span_count(line) == 2);
  CHECK(cove_grep_line_span_offset(line, 1) == 4);
  CHECK(cove_grep_line_span_length(line, 1) == 5);
  CHECK(cove_grep_line_span_length(line, 2) == 0);
  CHECK(cove_grep_line_is_context(line) == 0);
  CHECK(cove_grep_line_is_cut(line) == 1);
  CHECK(cove_grep_line_encoding(line) == COVE_TEXT_UTF16LE);
  CHECK(cove_grep_line_is_context(cove_grep_lines_entry(lines, 1)) == 1);
  CHECK(cove_grep_lines_entry(lines, 2) == nullptr);

  const cove_search_summary* const summary = cove_grep_result_summary(raw);
  CHECK(cove_search_summary_ended(summary) == COVE_SEARCH_DEADLINE);
  CHECK(cove_search_summary_matches(summary) == 1);
  CHECK(cove_search_summary_files_searched(summary) == 2);
  CHECK(cove_search_summary_files_matched(summary) == 3);
  CHECK(cove_search_summary_files_binary(summary) == 4);
  CHECK(cove_search_summary_files_too_large(summary) == 5);
  CHECK(cove_search_summary_problem_total(summary) == 6);
  REQUIRE(cove_search_summary_problem_count(summary) == 1);
  CHECK(std::string(cove_search_summary_problem_path(summary, 0)) == "secret");
  CHECK(cove_search_summary_problem_code(summary, 0) == COVE_PERMISSION_DENIED);
  CHECK(std::string(cove_search_summary_problem_message(summary, 0)) == "may not be read");
  CHECK(cove_search_summary_problem_path(summary, 1) == nullptr);
  CHECK(cove_search_summary_problem_code(summary, 1) == COVE_OK);
  CHECK(cove_search_summary_problem_message(summary, 1) == nullptr);
}

TEST_CASE("Search: a find's entries have facts only where they were asked for", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  FindEntry plain{"a\xff", FileType::kSymlink, {}};
  FindEntry known{"b", FileType::kRegular, FileInfo()};
  known.facts->size = 9;
  fake::world().entries = {{plain, known}, summary_of(2)};
  cove_find_result* raw = nullptr;
  REQUIRE(cove_workspace_find(workspace.get(), ".", nullptr, &raw, nullptr) == COVE_OK);
  const FindHandle result(raw);
  const cove_find_entries* const entries = cove_find_result_entries(raw);
  REQUIRE(cove_find_entries_count(entries) == 2);
  CHECK(std::string(cove_find_entry_path(cove_find_entries_entry(entries, 0))) == "a\xff");
  CHECK(cove_find_entry_type(cove_find_entries_entry(entries, 0)) == COVE_FILE_SYMLINK);
  CHECK(cove_find_entry_facts(cove_find_entries_entry(entries, 0)) == nullptr);
  CHECK(cove_file_info_size(cove_find_entry_facts(cove_find_entries_entry(entries, 1))) == 9);
  CHECK(cove_find_entries_entry(entries, 2) == nullptr);
  CHECK(cove_search_summary_matches(cove_find_result_summary(raw)) == 2);
}

TEST_CASE("Search: results come as they are found, a pause is passed on, the end comes once",
          "[capi][search][callbacks]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const auto callbacks = grep_callbacks_to(&heard);
  cove_grep_options options = COVE_GREP_OPTIONS_INIT;
  options.limit = COVE_NO_LIMIT;
  cove_search* raw = nullptr;
  REQUIRE(cove_workspace_grep_start(workspace.get(), ".", "x", &options, &callbacks, &raw,
                                    nullptr) == COVE_OK);
  const SearchOwner search(raw);
  CHECK_FALSE(fake::world().grep.limit);
  auto facade = std::move(fake::world().grep_callbacks);
  const std::vector<GrepLine> found = {line_of("a"), line_of("b"), line_of("c")};
  CHECK(facade.on_found(std::span(found).first(1)) == Flow::kContinue);
  CHECK(facade.on_found(std::span(found).subspan(1)) == Flow::kPause);
  cove_search_resume(raw);
  CHECK(fake::world().resumed == 1);
  cove_search_cancel(raw);
  CHECK(fake::world().cancelled == 1);
  facade.on_done(summary_of(3));
  facade = {};
  CHECK(heard.order == "lldx");
  CHECK(heard.text == "abc3");
}

TEST_CASE("Search: a find is given to its callbacks too, and its error", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const auto callbacks = find_callbacks_to(&heard);
  cove_search* raw = nullptr;
  REQUIRE(cove_workspace_find_start(workspace.get(), ".", nullptr, &callbacks, &raw, nullptr) ==
          COVE_OK);
  const SearchOwner search(raw);
  auto facade = std::move(fake::world().find_callbacks);
  const std::vector<FindEntry> found = {{"one", FileType::kRegular, {}}};
  CHECK(facade.on_found(found) == Flow::kContinue);
  CHECK(heard.text == "one");
  facade.on_done(Error(ErrorCode::kNotFound, "no such directory"));
  facade = {};
  CHECK(heard.order == "edx");
  CHECK(heard.status == COVE_NOT_FOUND);
}

TEST_CASE("Search: without a callback for results they are only counted", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  auto callbacks = grep_callbacks_to(&heard);
  callbacks.on_lines = nullptr;
  cove_search* raw = nullptr;
  REQUIRE(cove_workspace_grep_start(workspace.get(), ".", "x", nullptr, &callbacks, &raw,
                                    nullptr) == COVE_OK);
  cove_search_free(raw);
  CHECK_FALSE(fake::world().grep_callbacks.on_found);
  auto facade = std::move(fake::world().grep_callbacks);
  facade.on_done(summary_of(5));
  CHECK(heard.text == "5");
}

TEST_CASE("Search: what is pending when the Cove closes ends as cancelled", "[capi][search]") {
  auto cove = open_cove();
  auto workspace = acquire(cove);
  Heard heard;
  const auto callbacks = grep_callbacks_to(&heard);
  cove_search* search = nullptr;
  REQUIRE(cove_workspace_grep_start(workspace.get(), ".", "x", nullptr, &callbacks, &search,
                                    nullptr) == COVE_OK);
  cove_search_free(search);
  workspace.reset();
  cove.reset();
  CHECK(heard.order == "dx");
  CHECK(heard.status == COVE_CANCELLED);
}

TEST_CASE("Search: what is wrong in a start is named, and drop comes once", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  auto callbacks = grep_callbacks_to(&heard);
  cove_grep_options options = COVE_GREP_OPTIONS_INIT;
  cove_search* search = nullptr;
  const auto start = [&](const char* path, const char* pattern, cove_search** out) {
    return cove_workspace_grep_start(workspace.get(), path, pattern, &options, &callbacks, out,
                                     nullptr);
  };
  int dropped = 1;
  SECTION("no path") { CHECK(start(nullptr, "x", &search) == COVE_INVALID_ARGUMENT); }
  SECTION("no pattern") { CHECK(start(".", nullptr, &search) == COVE_INVALID_ARGUMENT); }
  SECTION("no handle") { CHECK(start(".", "x", nullptr) == COVE_INVALID_ARGUMENT); }
  SECTION("no completion") {
    callbacks.on_done = nullptr;
    CHECK(start(".", "x", &search) == COVE_INVALID_ARGUMENT);
  }
  SECTION("a glob that is not there") {
    options.include_count = 1;
    CHECK(start(".", "x", &search) == COVE_INVALID_ARGUMENT);
  }
  SECTION("a flag of a newer header") {
    options.flags = 64;
    CHECK(start(".", "x", &search) == COVE_UNSUPPORTED);
  }
  SECTION("a reserved field of the callbacks") {
    callbacks.reserved0 = 1;
    CHECK(start(".", "x", &search) == COVE_UNSUPPORTED);
  }
  SECTION("options of no version") {
    options.struct_size = 8;
    CHECK(start(".", "x", &search) == COVE_INVALID_ARGUMENT);
  }
  SECTION("callbacks of no version: nothing of them is read") {
    callbacks.struct_size = 8;
    CHECK(start(".", "x", &search) == COVE_INVALID_ARGUMENT);
    dropped = 0;
  }
  CHECK(search == nullptr);
  CHECK(heard.done == 0);
  CHECK(heard.dropped == dropped);
  CHECK(cove_workspace_find_start(workspace.get(), ".", nullptr, nullptr, &search, nullptr) ==
        COVE_INVALID_ARGUMENT);
}

TEST_CASE("Search: a collecting one says what failed, and gives nothing", "[capi][search]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  auto* grep = reinterpret_cast<cove_grep_result*>(1);
  CHECK(cove_workspace_grep(workspace.get(), ".", nullptr, nullptr, &grep, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(grep == nullptr);
  CHECK(cove_workspace_grep(workspace.get(), ".", "x", nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_grep(nullptr, ".", "x", nullptr, &grep, nullptr) == COVE_INVALID_ARGUMENT);
  fake::world().fail_with = Error(ErrorCode::kTooLarge, "more than 64 MiB");
  CHECK(cove_workspace_grep(workspace.get(), ".", "x", nullptr, &grep, nullptr) == COVE_TOO_LARGE);
  auto* find = reinterpret_cast<cove_find_result*>(1);
  CHECK(cove_workspace_find(workspace.get(), ".", nullptr, &find, nullptr) == COVE_TOO_LARGE);
  CHECK(find == nullptr);
  fake::world().fail_with.reset();
}

TEST_CASE("Search: getters of nothing give nothing", "[capi][search]") {
  CHECK(cove_search_summary_ended(nullptr) == 0);
  CHECK(cove_search_summary_problem_count(nullptr) == 0);
  CHECK(std::string(cove_grep_line_path(nullptr)).empty());
  size_t size = 1;
  CHECK(std::string(cove_grep_line_text(nullptr, &size)).empty());
  CHECK(size == 0);
  CHECK(cove_grep_line_span_count(nullptr) == 0);
  CHECK(cove_grep_line_encoding(nullptr) == 0);
  CHECK(cove_grep_lines_count(nullptr) == 0);
  CHECK(cove_grep_result_lines(nullptr) == nullptr);
  CHECK(cove_find_entry_type(nullptr) == 0);
  CHECK(cove_find_entry_facts(nullptr) == nullptr);
  CHECK(cove_find_entries_count(nullptr) == 0);
  CHECK(cove_find_result_summary(nullptr) == nullptr);
  cove_search_resume(nullptr);
  cove_search_cancel(nullptr);
  cove_search_free(nullptr);
  cove_search_summary_free(nullptr);
}

#include "search_results.hpp"

#include <utility>

using namespace cove;

static_assert(static_cast<int>(SearchEnd::kComplete) == COVE_SEARCH_COMPLETE);
static_assert(static_cast<int>(SearchEnd::kLimit) == COVE_SEARCH_LIMIT);
static_assert(static_cast<int>(SearchEnd::kDeadline) == COVE_SEARCH_DEADLINE);
static_assert(static_cast<int>(SearchEnd::kCancelled) == COVE_SEARCH_CANCELLED);
static_assert(static_cast<int>(TextEncoding::kBytes) == COVE_TEXT_BYTES);
static_assert(static_cast<int>(TextEncoding::kUtf16Le) == COVE_TEXT_UTF16LE);
static_assert(static_cast<int>(TextEncoding::kUtf16Be) == COVE_TEXT_UTF16BE);

cove_grep_lines::cove_grep_lines(std::span<const GrepLine> lines) {
  entries.reserve(lines.size());
  for (const GrepLine& line : lines) entries.push_back({&line});
}

cove_find_entries::cove_find_entries(std::span<const FindEntry> found) {
  entries.reserve(found.size());
  for (const FindEntry& entry : found) {
    entries.push_back({&entry, {}});
    if (entry.facts) entries.back().facts = cove_file_info{*entry.facts};
  }
}

cove_grep_result::cove_grep_result(GrepResult found)
    : found_lines(std::move(found.lines)), lines(found_lines), summary{std::move(found.summary)} {}

cove_find_result::cove_find_result(FindResult found)
    : found_entries(std::move(found.entries)),
      entries(found_entries),
      summary{std::move(found.summary)} {}

namespace {

const SearchProblem* problem_of(const cove_search_summary* summary, size_t index) {
  return index < cove_search_summary_problem_count(summary) ? &summary->summary.problems[index]
                                                            : nullptr;
}

TextSpan span_of(const cove_grep_line* line, size_t index) {
  return index < cove_grep_line_span_count(line) ? line->line->submatches[index] : TextSpan{};
}

}  // namespace

extern "C" {

int32_t cove_search_summary_ended(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : static_cast<int32_t>(summary->summary.ended);
}

uint64_t cove_search_summary_matches(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.matches;
}

uint64_t cove_search_summary_files_searched(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.files_searched;
}

uint64_t cove_search_summary_files_matched(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.files_matched;
}

uint64_t cove_search_summary_files_binary(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.files_binary;
}

uint64_t cove_search_summary_files_too_large(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.files_too_large;
}

uint64_t cove_search_summary_problem_total(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.problem_count;
}

size_t cove_search_summary_problem_count(const cove_search_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.problems.size();
}

const char* cove_search_summary_problem_path(const cove_search_summary* summary, size_t index) {
  const SearchProblem* const problem = problem_of(summary, index);
  return problem == nullptr ? nullptr : problem->path.c_str();
}

cove_status cove_search_summary_problem_code(const cove_search_summary* summary, size_t index) {
  const SearchProblem* const problem = problem_of(summary, index);
  return problem == nullptr ? COVE_OK : static_cast<cove_status>(problem->code);
}

const char* cove_search_summary_problem_message(const cove_search_summary* summary, size_t index) {
  const SearchProblem* const problem = problem_of(summary, index);
  return problem == nullptr ? nullptr : problem->message.c_str();
}

void cove_search_summary_free(cove_search_summary* summary) { delete summary; }

const char* cove_grep_line_path(const cove_grep_line* line) {
  return line == nullptr ? "" : line->line->path.c_str();
}

uint64_t cove_grep_line_number(const cove_grep_line* line) {
  return line == nullptr ? 0 : line->line->line;
}

uint64_t cove_grep_line_column(const cove_grep_line* line) {
  return line == nullptr ? 0 : line->line->column;
}

const char* cove_grep_line_text(const cove_grep_line* line, size_t* out_size) {
  if (out_size != nullptr) *out_size = line == nullptr ? 0 : line->line->text.size();
  return line == nullptr ? "" : line->line->text.c_str();
}

uint64_t cove_grep_line_text_offset(const cove_grep_line* line) {
  return line == nullptr ? 0 : line->line->text_offset;
}

size_t cove_grep_line_span_count(const cove_grep_line* line) {
  return line == nullptr ? 0 : line->line->submatches.size();
}

uint32_t cove_grep_line_span_offset(const cove_grep_line* line, size_t index) {
  return span_of(line, index).offset;
}

uint32_t cove_grep_line_span_length(const cove_grep_line* line, size_t index) {
  return span_of(line, index).length;
}

int32_t cove_grep_line_is_context(const cove_grep_line* line) {
  return line != nullptr && line->line->is_context ? 1 : 0;
}

int32_t cove_grep_line_is_cut(const cove_grep_line* line) {
  return line != nullptr && line->line->cut ? 1 : 0;
}

int32_t cove_grep_line_encoding(const cove_grep_line* line) {
  return line == nullptr ? 0 : static_cast<int32_t>(line->line->encoding);
}

size_t cove_grep_lines_count(const cove_grep_lines* lines) {
  return lines == nullptr ? 0 : lines->entries.size();
}

const cove_grep_line* cove_grep_lines_entry(const cove_grep_lines* lines, size_t index) {
  return index < cove_grep_lines_count(lines) ? &lines->entries[index] : nullptr;
}

const cove_grep_lines* cove_grep_result_lines(const cove_grep_result* result) {
  return result == nullptr ? nullptr : &result->lines;
}

const cove_search_summary* cove_grep_result_summary(const cove_grep_result* result) {
  return result == nullptr ? nullptr : &result->summary;
}

void cove_grep_result_free(cove_grep_result* result) { delete result; }

const char* cove_find_entry_path(const cove_find_entry* entry) {
  return entry == nullptr ? "" : entry->entry->path.c_str();
}

int32_t cove_find_entry_type(const cove_find_entry* entry) {
  return entry == nullptr ? 0 : static_cast<int32_t>(entry->entry->type);
}

const cove_file_info* cove_find_entry_facts(const cove_find_entry* entry) {
  return entry != nullptr && entry->facts ? &*entry->facts : nullptr;
}

size_t cove_find_entries_count(const cove_find_entries* entries) {
  return entries == nullptr ? 0 : entries->entries.size();
}

const cove_find_entry* cove_find_entries_entry(const cove_find_entries* entries, size_t index) {
  return index < cove_find_entries_count(entries) ? &entries->entries[index] : nullptr;
}

const cove_find_entries* cove_find_result_entries(const cove_find_result* result) {
  return result == nullptr ? nullptr : &result->entries;
}

const cove_search_summary* cove_find_result_summary(const cove_find_result* result) {
  return result == nullptr ? nullptr : &result->summary;
}

void cove_find_result_free(cove_find_result* result) { delete result; }

}  // extern "C"

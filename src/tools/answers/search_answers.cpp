#include "tools/answers/search_answers.hpp"

#include <algorithm>

#include "base/text/display_text.hpp"
#include "tools/answers/extract.hpp"
#include "tools/answers/names.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostGrepOffset = 9000;
constexpr std::uint64_t kMostFindOffset = 5000;

const char* end_name(SearchEnd ended) {
  switch (ended) {
    case SearchEnd::kComplete: return "complete";
    case SearchEnd::kLimit: return "limit";
    case SearchEnd::kDeadline: return "deadline";
    case SearchEnd::kCancelled: return "cancelled";
  }
  return "complete";
}

/// What was not looked at, and why.
void add_gaps(const SearchSummary& summary, Answer& answer) {
  const bool late = summary.ended == SearchEnd::kDeadline;
  if (late || summary.ended == SearchEnd::kCancelled) {
    answer.notices.push_back(std::string("The search ended early: ") +
                             (late ? "its time was over" : "it was cancelled") +
                             ". There may be more; search a smaller directory.");
  }
  if (summary.problem_count == 0) return;
  std::string text = std::to_string(summary.problem_count) + " could not be read: ";
  const std::size_t shown = std::min<std::size_t>(summary.problems.size(), 3);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : "; ") + shown_name(summary.problems[i].path) + " (" +
            base::harmless(summary.problems[i].message) + ")";
  }
  answer.notices.push_back(text + (summary.problem_count > shown ? "; ..." : ""));
}

void set_summary(const SearchSummary& summary, json& data) {
  data["ended"] = end_name(summary.ended);
  data["searched"] = summary.files_searched;
  data["binary"] = summary.files_binary;
  data["problem_count"] = summary.problem_count;
}

/// How to get what is behind the results that are shown.
std::string more_notice(const SearchPlace& place, const std::string& what, std::uint64_t shown,
                        std::uint64_t most_offset) {
  const std::uint64_t next = place.offset + shown;
  const std::string reached = std::to_string(shown) + " " + what + " limit reached.";
  if (next > most_offset) return reached + " Narrow the search: a smaller path, a sharper pattern.";
  return reached + " Use offset=" + std::to_string(next) +
         " to continue, or narrow the search: a smaller path, a sharper pattern.";
}

/// Sets what goes on behind `shown` results, where something does.
void conclude(const SearchPlace& place, const char* what, std::uint64_t shown, bool more,
              std::uint64_t most_offset, Answer& answer) {
  answer.data["next_offset"] = nullptr;
  if (!more) return;
  answer.notices.push_back(more_notice(place, what, shown, most_offset));
  if (place.offset + shown <= most_offset) answer.data["next_offset"] = place.offset + shown;
}

std::string grep_path(const SearchPlace& place, const GrepLine& line) {
  return place.is_file ? place.path : joined(place.path, line.path);
}

std::string grep_line(const SearchPlace& place, const GrepLine& line) {
  const char* mark = line.is_context ? "-" : ":";
  std::string text = shown_name(grep_path(place, line)) + mark + std::to_string(line.line) + mark +
                     " " + (line.text_offset > 0 ? "... " : "") + base::marked_utf8(line.text);
  return text + (line.cut ? "... [truncated]" : "");
}

json grep_data(const SearchPlace& place, const GrepLine& line) {
  json data{{"path", base::name_text(grep_path(place, line))},
            {"line", line.line},
            {"text", base::marked_utf8(line.text)}};
  if (line.cut) data["text_offset"] = line.text_offset;
  if (line.is_context) {
    data["context"] = true;
    return data;
  }
  data["column"] = line.column;
  json spans = json::array();
  for (const TextSpan& span : line.submatches) spans.push_back({span.offset, span.length});
  data["submatches"] = std::move(spans);
  return data;
}

}  // namespace

Answer grep_answer(const SearchPlace& place, const GrepResult& result) {
  Answer answer;
  BoundedLines lines;
  json found = json::array();
  bool has_cut = false;
  std::uint64_t passed = 0;
  std::uint64_t shown = 0;
  for (const GrepLine& line : result.lines) {
    if (!line.is_context) ++passed;
    if (line.is_context ? passed < place.offset : passed <= place.offset) continue;
    if (!lines.add(grep_line(place, line))) break;
    if (!line.is_context) ++shown;
    has_cut = has_cut || line.cut;
    found.push_back(grep_data(place, line));
  }
  const bool more = result.summary.ended == SearchEnd::kLimit || lines.full();
  conclude(place, "matches", shown, more, kMostGrepOffset, answer);
  if (has_cut) {
    answer.notices.emplace_back(
        "Some lines truncated to 500 bytes. Use sandbox_read_file with "
        "offset to see the whole line.");
  }
  add_gaps(result.summary, answer);
  answer.text = std::move(lines).take();
  if (answer.text.empty()) {
    answer.text = place.offset == 0 ? "No matches found" : "No more matches found";
    if (result.summary.files_binary > 0) {
      answer.notices.push_back(std::to_string(result.summary.files_binary) +
                               " binary files were passed over");
    }
  }
  set_summary(result.summary, answer.data);
  answer.data["lines"] = std::move(found);
  return answer;
}

Answer find_answer(const SearchPlace& place, const FindResult& result) {
  Answer answer;
  BoundedLines lines;
  json found = json::array();
  for (std::size_t i = place.offset; i < result.entries.size(); ++i) {
    const FindEntry& entry = result.entries[i];
    const bool is_directory = entry.type == FileType::kDirectory;
    const std::string path = joined(place.path, entry.path);
    if (!lines.add(shown_name(path) + (is_directory ? "/" : ""))) break;
    found.push_back({{"path", base::name_text(path)}, {"directory", is_directory}});
  }
  const bool more = result.summary.ended == SearchEnd::kLimit || lines.full();
  conclude(place, "results", lines.count(), more, kMostFindOffset, answer);
  add_gaps(result.summary, answer);
  answer.text = std::move(lines).take();
  if (answer.text.empty()) {
    answer.text = place.offset == 0 ? "No files found matching pattern" : "No more files found";
  }
  set_summary(result.summary, answer.data);
  answer.data["entries"] = std::move(found);
  return answer;
}

}  // namespace cove::tools

#include "tools/answers/search_answers.hpp"

#include <algorithm>

#include "base/text/display_text.hpp"
#include "base/text/joined_path.hpp"
#include "tools/answers/counted.hpp"
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

/// What counts as one result.
struct Counted {
  const char* one;
  const char* many;
  std::uint64_t most_offset;
};

constexpr Counted kMatches{"match", "matches", kMostGrepOffset};
constexpr Counted kResults{"result", "results", kMostFindOffset};

/// A found path, as one that can be given back.
std::string path_of(const SearchPlace& place, const std::string& found) {
  return place.is_file ? place.path : base::joined_path(place.path, found);
}

/// What was not looked at, and why.
void add_gaps(const SearchPlace& place, const SearchSummary& summary, Answer& answer) {
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
    text += (i == 0 ? "" : "; ") + shown_name(path_of(place, summary.problems[i].path)) + " (" +
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

/// How to get what is behind the results that are shown, of which there is one at least.
std::string more_notice(const SearchPlace& place, const Counted& what, std::uint64_t shown) {
  const std::uint64_t next = place.offset + shown;
  const std::string count = counted(shown, what.one, what.many);
  const std::string reached =
      shown >= place.limit ? count + " limit reached."
                           : "Showing " + count + "; an answer has at most 2,000 lines or 50 KiB.";
  if (next > what.most_offset)
    return reached + " Narrow the search: a smaller path, a sharper pattern.";
  return reached + " Use offset=" + std::to_string(next) +
         " to continue, or narrow the search: a smaller path, a sharper pattern.";
}

/// Sets what goes on behind `shown` results, where something does.
void conclude(const SearchPlace& place, const Counted& what, std::uint64_t shown, bool more,
              Answer& answer) {
  answer.data["next_offset"] = nullptr;
  if (!more || shown == 0) return;
  answer.notices.push_back(more_notice(place, what, shown));
  if (place.offset + shown <= what.most_offset) answer.data["next_offset"] = place.offset + shown;
}

std::string grep_line(const SearchPlace& place, const GrepLine& line) {
  const char* mark = line.is_context ? "-" : ":";
  std::string text = shown_name(path_of(place, line.path)) + mark + std::to_string(line.line) +
                     mark + " " + (line.text_offset > 0 ? "... " : "") +
                     base::marked_utf8(line.text);
  return text + (line.cut ? "... [truncated]" : "");
}

json grep_data(const SearchPlace& place, const GrepLine& line) {
  json data{{"path", base::name_text(path_of(place, line.path))},
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

/// The lines of a search that fit into an answer, among them always a match.
class FittingLines {
 public:
  explicit FittingLines(const SearchPlace& place) : place_(place) {}

  void add(const GrepLine& line) {
    if (!line.is_context) ++passed_;
    if (line.is_context ? passed_ < place_.offset : passed_ <= place_.offset) return;
    if (take(line)) return;
    context_cut = context_cut || line.is_context;
    if (line.is_context) return;
    if (shown > 0) {
      left_matches = true;
      return;
    }
    // The lines before it leave no room for it: it is what was searched for.
    dropped_before = true;
    lines_ = BoundedLines();
    found = json::array();
    take(line);
  }

  std::string text() && { return std::move(lines_).take(); }

  json found = json::array();
  std::uint64_t shown = 0;      ///< matches
  bool dropped_before = false;  ///< lines of context before the first match
  bool context_cut = false;     ///< and nothing behind it is shown
  bool left_matches = false;
  bool has_cut = false;  ///< lines of which a part is shown

 private:
  bool take(const GrepLine& line) {
    if (!lines_.add(grep_line(place_, line))) return false;
    if (!line.is_context) ++shown;
    has_cut = has_cut || line.cut;
    found.push_back(grep_data(place_, line));
    return true;
  }

  const SearchPlace& place_;
  BoundedLines lines_;
  std::uint64_t passed_ = 0;
};

}  // namespace

Answer grep_answer(const SearchPlace& place, const GrepResult& result) {
  Answer answer;
  FittingLines lines(place);
  for (const GrepLine& line : result.lines) lines.add(line);
  const bool more = result.summary.ended == SearchEnd::kLimit || lines.left_matches;
  conclude(place, kMatches, lines.shown, more, answer);
  // Where more matches follow, the next answer has their context.
  if (lines.dropped_before || (lines.context_cut && !more)) {
    answer.notices.emplace_back("Context was cut to fit; use a smaller context.");
  }
  if (lines.has_cut) {
    answer.notices.emplace_back(
        "Some lines truncated to 500 bytes. Use sandbox_read_file with "
        "offset to see the whole line.");
  }
  add_gaps(place, result.summary, answer);
  answer.data["lines"] = std::move(lines.found);
  answer.text = std::move(lines).text();
  if (answer.text.empty()) {
    answer.text = place.offset == 0 ? "No matches found" : "No more matches found";
    if (const std::uint64_t binary = result.summary.files_binary; binary > 0) {
      answer.notices.push_back(
          counted(binary, "binary file was passed over", "binary files were passed over"));
    }
  }
  set_summary(result.summary, answer.data);
  return answer;
}

Answer find_answer(const SearchPlace& place, const FindResult& result) {
  Answer answer;
  BoundedLines lines;
  json found = json::array();
  for (std::size_t i = place.offset; i < result.entries.size(); ++i) {
    const FindEntry& entry = result.entries[i];
    const bool is_directory = entry.type == FileType::kDirectory;
    const std::string path = base::joined_path(place.path, entry.path);
    if (!lines.add(shown_name(path) + (is_directory ? "/" : ""))) break;
    found.push_back({{"path", base::name_text(path)}, {"directory", is_directory}});
  }
  const bool more = result.summary.ended == SearchEnd::kLimit || lines.full();
  conclude(place, kResults, lines.count(), more, answer);
  add_gaps(place, result.summary, answer);
  answer.text = std::move(lines).take();
  if (answer.text.empty()) {
    answer.text = place.offset == 0 ? "No files found matching pattern" : "No more files found";
  }
  set_summary(result.summary, answer.data);
  answer.data["entries"] = std::move(found);
  return answer;
}

}  // namespace cove::tools

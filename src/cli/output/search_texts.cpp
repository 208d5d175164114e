#include <nlohmann/json.hpp>

#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

using nlohmann::json;

const char* word_of(SearchEnd ended) {
  switch (ended) {
    case SearchEnd::kComplete: return "complete";
    case SearchEnd::kLimit: return "limit";
    case SearchEnd::kDeadline: return "deadline";
    case SearchEnd::kCancelled: return "cancelled";
  }
  return "complete";
}

/// A line of a file as it may be shown; its tabs and backslashes stay.
std::string shown_line(std::string_view text) {
  std::string shown;
  for (std::size_t tab = text.find('\t'); tab != std::string_view::npos; tab = text.find('\t')) {
    shown += base::harmless(text.substr(0, tab)) + '\t';
    text.remove_prefix(tab + 1);
  }
  return shown + base::harmless(text);
}

/// A found thing as `ls` would have it.
FileInfo info_of(const FindEntry& entry) {
  FileInfo info = entry.facts.value_or(FileInfo());
  info.path = entry.path;
  info.type = entry.type;
  return info;
}

}  // namespace

json line_json(const GrepLine& line) {
  json object{{"line", line.line}};
  set_bytes(object, "path", line.path);
  set_bytes(object, "text", line.text);
  if (line.cut) object["text_offset"] = line.text_offset;
  if (line.is_context) {
    object["context"] = true;
    return object;
  }
  object["column"] = line.column;
  json spans = json::array();
  for (const TextSpan& span : line.submatches) spans.push_back({span.offset, span.length});
  object["submatches"] = std::move(spans);
  return object;
}

std::string line_text(const GrepLine& line) {
  const std::string mark = line.is_context ? "-" : ":";
  return base::escaped(line.path) + mark + std::to_string(line.line) + mark +
         shown_line(line.text) + "\n";
}

json found_json(const FindEntry& entry) {
  if (entry.facts) {
    json object = file_json(info_of(entry));
    object.erase("name");
    object.erase("name_hex");
    set_bytes(object, "path", entry.path);
    return object;
  }
  json object{{"type", type_text(entry.type)}};
  set_bytes(object, "path", entry.path);
  return object;
}

std::string found_text(const FindEntry& entry) {
  return entry.facts ? file_long_text(info_of(entry)) : file_text(info_of(entry));
}

json summary_json(const SearchSummary& summary) {
  json problems = json::array();
  for (const SearchProblem& problem : summary.problems) {
    json object{{"code", std::string(name_of(problem.code))}, {"message", problem.message}};
    set_bytes(object, "path", problem.path);
    problems.push_back(std::move(object));
  }
  return {{"ended", word_of(summary.ended)},        {"matches", summary.matches},
          {"searched", summary.files_searched},     {"matched", summary.files_matched},
          {"binary", summary.files_binary},         {"too_large", summary.files_too_large},
          {"problem_count", summary.problem_count}, {"problems", std::move(problems)}};
}

std::string summary_text(const SearchSummary& summary) {
  std::string text;
  for (const SearchProblem& problem : summary.problems) {
    text += "cove: " + base::escaped(problem.path) + ": " + base::harmless(problem.message) + "\n";
  }
  if (summary.problem_count > summary.problems.size()) {
    text += "cove: and " + std::to_string(summary.problem_count - summary.problems.size()) +
            " more that could not be read\n";
  }
  if (summary.ended == SearchEnd::kLimit) {
    text += "cove: stopped at the limit of " + std::to_string(summary.matches) +
            "; there may be more\n";
  }
  return text;
}

}  // namespace cove::cli

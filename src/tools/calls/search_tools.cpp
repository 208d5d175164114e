// sandbox_grep and sandbox_find.
#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text/joined_path.hpp"
#include "client/file_calls.hpp"
#include "client/search_calls.hpp"
#include "tools/answers/names.hpp"
#include "tools/answers/search_answers.hpp"
#include "tools/calls/runs.hpp"

namespace cove::tools {
namespace {

SearchPlace searched(const ToolCall& tool) {
  SearchPlace place;
  place.path = tool.path();
  place.offset = tool.number("offset");
  place.limit = tool.number("limit");
  return place;
}

GrepQuery grep_query(const ToolCall& tool, const SearchPlace& place) {
  GrepQuery query;
  query.pattern = tool.text("pattern");
  query.literal = tool.flag("literal");
  query.ignore_case = tool.flag("ignoreCase");
  query.context_before = static_cast<std::uint32_t>(tool.number("context"));
  query.context_after = query.context_before;
  if (tool.arguments.contains("glob")) query.include.push_back(base::name_bytes(tool.text("glob")));
  query.hidden = true;
  query.limit = place.offset + place.limit;
  query.max_line_bytes = 500;
  return query;
}

FindQuery find_query(const ToolCall& tool, const SearchPlace& place) {
  FindQuery query;
  query.glob = base::name_bytes(tool.text("pattern"));
  query.hidden = true;
  query.limit = place.offset + place.limit;
  return query;
}

/// The only name below the searched path that results have, if there is one: it may be a single
/// file's own.
std::optional<std::string_view> only_name(const GrepResult& result) {
  std::optional<std::string_view> name;
  const auto fits = [&name](const std::string& path) {
    if (!name) name = path;
    return *name == path && path.find('/') == std::string::npos;
  };
  for (const GrepLine& line : result.lines) {
    if (!fits(line.path)) return std::nullopt;
  }
  for (const SearchProblem& problem : result.summary.problems) {
    if (!fits(problem.path)) return std::nullopt;
  }
  return name;
}

/// Results of a single file name it by its last name, or by that of the file that a link leads to,
/// as do those of the only file in a directory: only then it takes a look, through links.
Task<bool> is_single_file(const ToolCall& tool, const SearchPlace& place, const GrepResult& result,
                          const CallContext& call) {
  const std::optional<std::string_view> name = only_name(result);
  if (!name || base::joined_path(place.path, {}).empty()) co_return false;
  client::StatCall ask;
  ask.path = tool.place();
  ask.path.path += "/.";
  const Result<FileInfo> inside = co_await client::ask_call(tool.link, ask, call);
  if (inside) co_return inside->type != FileType::kDirectory;
  const ErrorCode code = inside.error().code();
  // Where the call is over, what was found is still given.
  const bool is_unknown = code == ErrorCode::kTimeout || code == ErrorCode::kCancelled;
  co_return is_unknown ? *name == last_name(place.path) : true;
}

/// True where every match of the pattern has a line feed that is written in it, as far as that is
/// told by one look: alternatives and repetitions may do without.
bool has_line_feed(std::string_view pattern) {
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\n') return true;
    if (c == '\\') {
      ++i;
      if (!in_class && i < pattern.size() && pattern[i] == 'n') return true;
    } else if (in_class && c == '[' && pattern.substr(i + 1, 1) == ":") {
      i = std::min(pattern.find(":]", i + 2), pattern.size() - 1) + 1;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      if (pattern.substr(i + 1, 1) == "^") ++i;
      if (pattern.substr(i + 1, 1) == "]") ++i;
    }
  }
  return false;
}

Error advised(const ToolCall& tool, const Error& error) {
  if (error.code() != ErrorCode::kInvalidArgument || tool.flag("literal")) return error;
  // Only of the pattern: the glob and the limits have rules of their own.
  if (!error.message().starts_with("the pattern '")) return error;
  return with_hint(error,
                   "Patterns have RE2's syntax: no look-around, no back-references. To search for "
                   "plain text set literal to true.");
}

}  // namespace

Task<Result<Answer>> run_grep(const ToolCall& tool, const CallContext& call) {
  SearchPlace place = searched(tool);
  const GuestPath target = tool.place();
  const GrepQuery query = grep_query(tool, place);
  const Result<GrepResult> result = co_await client::collect(tool.link, target, query, call);
  if (!result) co_return advised(tool, result.error());
  place.is_file = co_await is_single_file(tool, place, *result, call);
  Answer answer = grep_answer(place, *result);
  if (result->lines.empty() && !query.literal && has_line_feed(query.pattern)) {
    answer.notices.emplace_back(
        "Lines are matched one at a time; a pattern with a line feed finds nothing");
  }
  co_return answer;
}

Task<Result<Answer>> run_find(const ToolCall& tool, const CallContext& call) {
  const SearchPlace place = searched(tool);
  const GuestPath target = tool.place();
  const FindQuery query = find_query(tool, place);
  COVE_CO_TRY(const FindResult result, co_await client::collect(tool.link, target, query, call));
  co_return find_answer(place, result);
}

}  // namespace cove::tools

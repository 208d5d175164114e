// sandbox_grep and sandbox_find.
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

/// Results of a single file name it by its last name, as do those of a file of that name in a
/// directory of that name: only then it takes a look.
Task<Result<bool>> is_single_file(const ToolCall& tool, const SearchPlace& place,
                                  const GrepResult& result, const CallContext& call) {
  if (result.lines.empty() || result.lines.front().path != last_name(place.path)) co_return false;
  client::StatCall ask;
  ask.path = tool.place();
  COVE_CO_TRY(const FileInfo info, co_await client::ask_call(tool.link, ask, call));
  co_return info.type != FileType::kDirectory;
}

Error advised(const Error& error) {
  if (error.code() != ErrorCode::kInvalidArgument) return error;
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
  if (!result) co_return advised(result.error());
  // Where the call is over, what was found is still given.
  Result<bool> is_file = co_await is_single_file(tool, place, *result, call);
  place.is_file = std::move(is_file).value_or(true);
  co_return grep_answer(place, *result);
}

Task<Result<Answer>> run_find(const ToolCall& tool, const CallContext& call) {
  const SearchPlace place = searched(tool);
  const GuestPath target = tool.place();
  const FindQuery query = find_query(tool, place);
  COVE_CO_TRY(const FindResult result, co_await client::collect(tool.link, target, query, call));
  co_return find_answer(place, result);
}

}  // namespace cove::tools

#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/json_list.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

/// Gives results away as they come: for machines into one list, for people line by line.
template <class Found>
FoundSink<Found> sink_of(const Invocation& invocation, const SearchedPath& place, JsonList& list,
                         nlohmann::json (*json_of)(const Found&),
                         std::string (*text_of)(const Found&)) {
  return
      [&invocation, &place, &list, json_of, text_of](std::span<const Found> found) -> Result<void> {
        std::string lines;
        for (Found one : found) {
          one.path = place.path_of(one.path);
          if (invocation.request.json) {
            COVE_TRY_VOID(list.add(json_of(one)));
          } else {
            lines += text_of(one);
          }
        }
        return invocation.output.out(lines);
      };
}

/// What is said after the results. A search that ended early is an error behind what it found.
Result<void> conclude(const Invocation& invocation, const SearchedPath& place, JsonList& list,
                      SearchSummary summary) {
  for (SearchProblem& problem : summary.problems) problem.path = place.path_of(problem.path);
  if (invocation.request.json) COVE_TRY_VOID(list.finish("summary", summary_json(summary)));
  if (!invocation.request.json) COVE_TRY_VOID(invocation.output.err(summary_text(summary)));
  if (summary.ended == SearchEnd::kDeadline) {
    return Error(ErrorCode::kTimeout, "the time was over before the search was");
  }
  if (summary.ended == SearchEnd::kCancelled) {
    return Error(ErrorCode::kCancelled, "the search was cancelled");
  }
  return ok();
}

/// What is searched. A file, maybe at the end of a link, is not joined with its own name; where
/// there is nothing, the search says so.
SearchedPath place_of(const Invocation& invocation, const SandboxClient& client) {
  const auto& operands = invocation.request.operands;
  SearchedPath place{operands.size() > 1 ? operands[1] : "", false};
  if (place.path_of("").empty()) return place;
  const Result<FileInfo> inside = client.stat(place.path + "/.", invocation.call);
  place.is_file = !inside && inside.error().code() != ErrorCode::kPermissionDenied;
  return place;
}

}  // namespace

Result<int> run_grep(const Invocation& invocation) {
  const Request& request = invocation.request;
  GrepQuery query = request.grep;
  query.pattern = request.operands[0];
  COVE_TRY_VOID(check(query));
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    JsonList lines(invocation.output, "lines");
    const SearchedPath place = place_of(invocation, client);
    const auto sink = sink_of<GrepLine>(invocation, place, lines, line_json, line_text);
    COVE_TRY(const SearchSummary summary,
             client.grep_each(place.path, query, sink, invocation.call));
    COVE_TRY_VOID(conclude(invocation, place, lines, summary));
    return summary.matches > 0 ? 0 : 1;
  });
}

Result<int> run_find(const Invocation& invocation) {
  const Request& request = invocation.request;
  FindQuery query = request.find;
  if (!request.operands.empty()) query.glob = request.operands[0];
  if (request.changed_within) {
    query.modified_from = std::chrono::system_clock::now() - *request.changed_within;
  }
  COVE_TRY_VOID(check(query));
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    JsonList entries(invocation.output, "entries");
    const SearchedPath place = place_of(invocation, client);
    const auto sink = sink_of<FindEntry>(invocation, place, entries, found_json, found_text);
    COVE_TRY(const SearchSummary summary,
             client.find_each(place.path, query, sink, invocation.call));
    COVE_TRY_VOID(conclude(invocation, place, entries, summary));
    return 0;
  });
}

}  // namespace cove::cli

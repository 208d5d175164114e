#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/json_list.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

/// Gives results away as they come: for machines into one list, for people line by line.
template <class Found>
FoundSink<Found> sink_of(const Invocation& invocation, JsonList& list,
                         nlohmann::json (*json_of)(const Found&),
                         std::string (*text_of)(const Found&)) {
  return [&invocation, &list, json_of, text_of](std::span<const Found> found) -> Result<void> {
    std::string lines;
    for (const Found& one : found) {
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
Result<void> conclude(const Invocation& invocation, JsonList& list, const SearchSummary& summary) {
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

std::string place_of(const Request& request) {
  return request.operands.size() > 1 ? request.operands[1] : "";
}

}  // namespace

Result<int> run_grep(const Invocation& invocation) {
  const Request& request = invocation.request;
  GrepQuery query = request.grep;
  query.pattern = request.operands[0];
  COVE_TRY_VOID(check(query));
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    JsonList lines(invocation.output, "lines");
    const auto sink = sink_of<GrepLine>(invocation, lines, line_json, line_text);
    COVE_TRY(const SearchSummary summary,
             client.grep_each(place_of(request), query, sink, invocation.call));
    COVE_TRY_VOID(conclude(invocation, lines, summary));
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
    const auto sink = sink_of<FindEntry>(invocation, entries, found_json, found_text);
    COVE_TRY(const SearchSummary summary,
             client.find_each(place_of(request), query, sink, invocation.call));
    COVE_TRY_VOID(conclude(invocation, entries, summary));
    return 0;
  });
}

}  // namespace cove::cli

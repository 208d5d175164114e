#include "client/search_calls.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/guest_calls.hpp"
#include "client/host_calls.hpp"

namespace cove::client {
namespace {

constexpr std::uint64_t kMostCollected = 10'000;
constexpr std::size_t kMostCollectedBytes = 64U << 20U;

std::size_t bytes_of(const GrepLine& line) { return line.path.size() + line.text.size() + 128; }
std::size_t bytes_of(const FindEntry& entry) { return entry.path.size() + 128; }

std::vector<GrepLine>& list_in(GrepResult& result) { return result.lines; }
std::vector<FindEntry>& list_in(FindResult& result) { return result.entries; }

Task<Result<std::unique_ptr<GrepStream>>> ask_for(Guest& guest, const GuestPath& path,
                                                  const GrepQuery& query, const CallContext& call) {
  return guest.grep(path, query, call);
}
Task<Result<std::unique_ptr<FindStream>>> ask_for(Guest& guest, const GuestPath& path,
                                                  const FindQuery& query, const CallContext& call) {
  return guest.find(path, query, call);
}

template <class Found, class Query>
Task<Result<std::unique_ptr<SearchStream<Found>>>> open(GuestLink& link, const GuestPath& path,
                                                        const Query& query,
                                                        const CallContext& call) {
  using StreamPtr = std::unique_ptr<SearchStream<Found>>;
  COVE_CO_TRY_VOID(check(query));
  auto ask = [&path, &query](Guest& guest, const CallContext& inner) {
    return ask_for(guest, path, query, inner);
  };
  co_return co_await ask_guest<StreamPtr>(link, Repeat::kOnce, call, ask);
}

template <class Found>
Task<Result<std::vector<Found>>> next_of(GuestLink& link, SearchStream<Found>& stream,
                                         const CallContext& call) {
  Result<std::vector<Found>> found = co_await stream.next(call);
  if (found) link.note_answer();
  if (!found) link.note_error(found.error());
  co_return found;
}

Result<void> check_collected(const std::optional<std::uint64_t>& limit) {
  if (limit && *limit <= kMostCollected) return ok();
  return Error(ErrorCode::kInvalidArgument,
               "a search whose results are collected needs a limit of at most 10000; without one, "
               "take them as they come");
}

template <class All, class Found, class Query>
Task<Result<All>> collect_all(GuestLink& link, const GuestPath& path, const Query& query,
                              const CallContext& call) {
  COVE_CO_TRY_VOID(check_collected(query.limit));
  COVE_CO_TRY(const auto stream, co_await open<Found>(link, path, query, call));
  All all;
  std::size_t bytes = 0;
  for (;;) {
    COVE_CO_TRY(auto found, co_await next_of(link, *stream, call));
    if (found.empty()) break;
    for (Found& item : found) {
      bytes += bytes_of(item);
      list_in(all).push_back(std::move(item));
    }
    if (bytes > kMostCollectedBytes) {
      co_return Error(ErrorCode::kTooLarge,
                      "the results have more than 64 MiB; ask for fewer or less context, or take "
                      "them as they come");
    }
  }
  all.summary = stream->summary();
  co_return all;
}

template <class Found>
Result<SearchSummary> pour(GuestLink& link, SearchStream<Found>& stream,
                           const FoundSink<Found>& sink, const CallContext& call) {
  for (;;) {
    COVE_TRY(const auto found, base::sync_wait(link.scheduler(), next_of(link, stream, call)));
    if (found.empty()) return stream.summary();
    COVE_TRY_VOID(call_host<void>("the sink", sink, std::span<const Found>(found)));
  }
}

template <class Found, class Query>
Result<SearchSummary> give_here(GuestLink& link, const GuestPath& path, const Query& query,
                                const FoundSink<Found>& sink, const CallContext& call) {
  COVE_TRY(auto opened, base::sync_wait(link.scheduler(), open<Found>(link, path, query, call)));
  const Held<SearchStream<Found>> stream(link.scheduler(), std::move(opened));
  return pour(link, *stream, sink, call);
}

template <class Found, class Query>
Result<SearchSummary> give(GuestLink& link, const GuestPath& path, const Query& query,
                           const FoundSink<Found>& sink, const CallContext& call) {
  return run_here<SearchSummary>(link, call, [&](const CallContext& inner) {
    return give_here(link, path, query, sink, inner);
  });
}

template <class Found, class Query>
Task<Result<SearchSummary>> stream_all(GuestLink& link, const StreamedSearch<Found, Query>& search,
                                       const CallContext& call) {
  // The handle's stop ends the call; the caller's own is passed on to it.
  const auto steering = search.steering;
  const std::stop_callback pass_on(search.callers_stop, [steering] { steering->cancel(); });
  COVE_CO_TRY(const auto stream, co_await open<Found>(link, search.path, search.query, call));
  for (;;) {
    COVE_CO_TRY(const auto found, co_await next_of(link, *stream, call));
    if (found.empty()) co_return stream->summary();
    if (!search.on_found) continue;
    steering->expect_resume();
    COVE_CO_TRY(const Flow flow,
                call_host<Flow>("the callback", search.on_found, std::span<const Found>(found)));
    // Where the call ends during the pause, the stream says what was found by then.
    if (flow == Flow::kPause) (void)co_await steering->wait_resumed(link.scheduler(), call);
  }
}

}  // namespace

Task<Result<GrepResult>> collect(GuestLink& link, const GuestPath& path, const GrepQuery& query,
                                 const CallContext& call) {
  return collect_all<GrepResult, GrepLine>(link, path, query, call);
}

Task<Result<FindResult>> collect(GuestLink& link, const GuestPath& path, const FindQuery& query,
                                 const CallContext& call) {
  return collect_all<FindResult, FindEntry>(link, path, query, call);
}

Result<SearchSummary> give_each(GuestLink& link, const GuestPath& path, const GrepQuery& query,
                                const FoundSink<GrepLine>& sink, const CallContext& call) {
  return give<GrepLine>(link, path, query, sink, call);
}

Result<SearchSummary> give_each(GuestLink& link, const GuestPath& path, const FindQuery& query,
                                const FoundSink<FindEntry>& sink, const CallContext& call) {
  return give<FindEntry>(link, path, query, sink, call);
}

Task<Result<SearchSummary>> stream(GuestLink& link,
                                   const StreamedSearch<GrepLine, GrepQuery>& search,
                                   const CallContext& call) {
  return stream_all(link, search, call);
}

Task<Result<SearchSummary>> stream(GuestLink& link,
                                   const StreamedSearch<FindEntry, FindQuery>& search,
                                   const CallContext& call) {
  return stream_all(link, search, call);
}

}  // namespace cove::client

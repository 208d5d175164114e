// Searches over the wire: results come as fast as they are asked for, and an early end still gives
// what was found by then.
#include <chrono>
#include <optional>
#include <utility>

#include "guest/agent_client.hpp"
#include "wire/search_batch.hpp"
#include "wire/search_request.hpp"

namespace cove::guest {
namespace {

constexpr std::uint64_t kSearchWindow = 1024 * 1024;

/// How long the agent's last words are waited for after the caller's time is over.
constexpr std::chrono::seconds kSettleTime{5};

/// What it may have found by then and still gives, in bytes: some megabytes that wait for their
/// turn, or the newest files.
constexpr std::uint64_t kMostLate = 64U << 20U;

Result<std::vector<GrepLine>> unpack(ByteView bytes, GrepLine*) {
  return wire::unpack_lines(bytes);
}
Result<std::vector<FindEntry>> unpack(ByteView bytes, FindEntry*) {
  return wire::unpack_entries(bytes);
}

bool counts(const GrepLine& line) { return !line.is_context; }
bool counts(const FindEntry&) { return true; }

/// Lines beside a match.
std::uint64_t context_of(const GrepQuery& query) {
  return std::uint64_t{query.context_before} + query.context_after;
}
std::uint64_t context_of(const FindQuery&) { return 0; }

/// How much may come, whatever the agent holds for the limits.
struct SearchBounds {
  std::optional<std::uint64_t> matches;
  std::uint64_t context = 0;  ///< beside each match
};

template <class Item>
class AgentSearch final : public SearchStream<Item> {
 public:
  AgentSearch(std::shared_ptr<StreamOwner> stream, const SearchBounds& bounds)
      : owner_(std::move(stream)), bounds_(bounds) {}

  Task<Result<std::vector<Item>>> next(const CallContext& call) override {
    const auto owner = owner_;
    StreamOwner& stream = *owner;
    const Clock& clock = stream.link()->runtime.clock;
    // Results may come faster than the deadline's timer runs.
    const Result<void> in_time = stream->is_over() ? ok() : call.check(clock);
    if (!in_time && !ended_early_) end_early(stream, in_time.error());
    while (stream->arrived.empty() && !stream->is_over()) {
      const Instant began = clock.now();
      CallContext bound = call;
      if (ended_early_) bound = CallContext{.deadline = began + patience_};
      const Result<void> changed = co_await stream->changed(bound);
      if (!changed && ended_early_) co_return changed.error();
      if (ended_early_) patience_ -= clock.now() - began;
      if (!changed) end_early(stream, changed.error());
    }
    if (!stream->arrived.empty()) co_return take(stream);
    if (stream->error) co_return *stream->error;
    co_return finish(stream);
  }

  const SearchSummary& summary() const override { return summary_; }

 private:
  Result<std::vector<Item>> take(StreamOwner& stream) {
    const Bytes bytes = stream->take_arrived().bytes;
    COVE_TRY(auto items, checked(*stream.link(), unpack(bytes, static_cast<Item*>(nullptr))));
    stream.link()->connection->used(*stream, bytes.size());
    if (ended_early_ && (late_ += bytes.size()) > kMostLate) {
      return broken(stream, "results on and on after it was told to end");
    }
    if (items.empty()) return broken(stream, "an empty list");
    for (const Item& item : items) ++(counts(item) ? received_ : beside_);
    if (bounds_.matches && received_ > *bounds_.matches) {
      return broken(stream, "more results than were asked for");
    }
    // What comes before a match comes before it is counted.
    if (beside_ > (received_ + 1) * bounds_.context) {
      return broken(stream, "more lines beside the results than were asked for");
    }
    return items;
  }

  /// The agent stops, and says what it has.
  void end_early(StreamOwner& stream, const Error& cause) {
    ended_early_ = true;
    const wire::Cancel cancel{.timed_out = cause.code() == ErrorCode::kTimeout, .discard = false};
    stream.link()->connection->cancel(*stream, cancel);
  }

  Result<std::vector<Item>> finish(StreamOwner& stream) {
    COVE_TRY(summary_, checked(*stream.link(), wire::parse_search_summary(*stream->response)));
    if (summary_.matches != received_) return broken(stream, "another number of results than came");
    return std::vector<Item>();
  }

  static Result<std::vector<Item>> broken(StreamOwner& stream, const std::string& what) {
    return checked<std::vector<Item>>(
        *stream.link(), Error(ErrorCode::kIntegrity, "the agent's search gave " + what));
  }

  std::shared_ptr<StreamOwner> owner_;
  SearchBounds bounds_;
  SearchSummary summary_;
  std::uint64_t received_ = 0;
  std::uint64_t beside_ = 0;
  bool ended_early_ = false;
  Duration patience_ = kSettleTime;  ///< of waiting, after that; a slow reader takes none of it
  std::uint64_t late_ = 0;           ///< bytes that came after that
};

wire::SearchStart start_of(const Link& link, const GuestPath& path, const CallContext& call) {
  wire::SearchStart start{.path = path, .time = {}, .credit = kSearchWindow};
  if (call.deadline) {
    start.time = std::chrono::duration_cast<std::chrono::milliseconds>(*call.deadline -
                                                                       link.runtime.clock.now());
  }
  return start;
}

/// Opens the stream and waits for its first word, which may be what is wrong with the query.
template <class Item, class Body, class Query>
Task<Result<std::unique_ptr<SearchStream<Item>>>> begin_search(LinkPtr link, const GuestPath& path,
                                                               const Query& query,
                                                               const CallContext& call) {
  COVE_CO_TRY_VOID(check(query));
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  Body body;
  body.start = start_of(*link, path, call);
  body.query = query;
  const wire::Request request = link->request(std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kSearchWindow));
  StreamOwner& stream = *owner;
  while (stream->arrived.empty() && !stream->is_over()) {
    const Result<void> changed = co_await stream->changed(call);
    if (!changed) break;  // the stream itself gives what was found until then
  }
  if (stream->error) co_return *stream->error;
  const SearchBounds bounds{query.limit, context_of(query)};
  co_return std::unique_ptr<SearchStream<Item>>(std::make_unique<AgentSearch<Item>>(owner, bounds));
}

}  // namespace

Task<Result<std::unique_ptr<GrepStream>>> AgentGuest::grep(const GuestPath& path,
                                                           const GrepQuery& query,
                                                           const CallContext& call) {
  return begin_search<GrepLine, wire::GrepRequest>(link_, path, query, call);
}

Task<Result<std::unique_ptr<FindStream>>> AgentGuest::find(const GuestPath& path,
                                                           const FindQuery& query,
                                                           const CallContext& call) {
  return begin_search<FindEntry, wire::FindRequest>(link_, path, query, call);
}

}  // namespace cove::guest

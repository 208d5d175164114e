#include "agent/server/search_service.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "agent/search/find_search.hpp"
#include "agent/search/grep_search.hpp"
#include "wire/credit.hpp"

namespace cove::agent {
namespace {

constexpr unsigned kMostThreads = 8;  // of one search
constexpr unsigned kMostExtra = 24;   // of all searches, beyond each one's first
constexpr std::size_t kMostSearches = 64;

}  // namespace

/// The stream's side of a search: on the loop only.
class SearchService::SearchStream final : public StreamHandler,
                                          public std::enable_shared_from_this<SearchStream> {
 public:
  SearchStream(EventLoop& loop, StreamRef stream, std::uint64_t credit)
      : loop_(loop), stream_(std::move(stream)), credit_(credit) {}

  void begin(std::shared_ptr<Search> search, const std::optional<std::chrono::milliseconds>& time) {
    search_ = std::move(search);
    if (!time) return;
    timer_ = loop_.call_after(*time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->stop(SearchEnd::kDeadline);
    });
  }

  void on_credit(std::uint64_t bytes) override {
    credit_.grant(bytes);
    advance();
  }
  void on_room() override { advance(); }
  void on_cancel(const wire::Cancel& cancel) override {
    stop(cancel.timed_out ? SearchEnd::kDeadline : SearchEnd::kCancelled);
    if (cancel.discard) end(Error(ErrorCode::kCancelled, "the call was cancelled"));
  }
  void on_lost() override { let_go(); }

  /// Sends what the search has, as far as the other side takes it.
  void advance() {
    while (search_ != nullptr && stream_.has_room()) {
      const std::uint64_t room = std::min<std::uint64_t>(credit_.available(), wire::kMaxDataBytes);
      const std::optional<Bytes> output = search_->next_output(static_cast<std::size_t>(room));
      if (!output) break;
      credit_.spend(output->size());
      stream_.send_data(wire::Channel::kMain, *output);
    }
    if (search_ == nullptr) return;
    const auto ending = search_->ending();
    if (!ending) return;
    if (!*ending) return end(ending->error());
    const Bytes summary = wire::encode_search_summary(**ending);
    let_go();
    stream_.respond(summary);
  }

 private:
  void stop(SearchEnd ending) {
    if (search_ != nullptr) search_->stop(ending);
    advance();
  }

  void end(const Error& error) {
    if (search_ == nullptr) return;
    let_go();
    stream_.fail(error);
  }

  void let_go() {
    if (timer_) loop_.cancel(*timer_);
    timer_.reset();
    if (search_ != nullptr) search_->stop(SearchEnd::kCancelled);
    search_.reset();
  }

  EventLoop& loop_;
  StreamRef stream_;
  wire::SendWindow credit_;
  std::shared_ptr<Search> search_;  ///< null once the stream has no more to do with it
  std::optional<EventLoop::Timer> timer_;
};

SearchService::SearchService(EventLoop& loop, const Files& files)
    : loop_(loop),
      budget_(kMostExtra),
      ground_{files, budget_, std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads)} {}

template <class Kind, class Query>
std::shared_ptr<StreamHandler> SearchService::begin(const wire::SearchStart& start, Query query,
                                                    const StreamRef& stream) {
  if (searches_.size() >= kMostSearches) {
    stream.fail(Error(ErrorCode::kUnavailable, "64 searches are under way already"));
    return nullptr;
  }
  auto handler = std::make_shared<SearchStream>(loop_, stream, start.credit);
  const std::uint64_t number = next_number_++;
  SearchEvents events;
  events.on_output = [this, weak = std::weak_ptr(handler)] {
    loop_.post([weak] {
      if (const auto self = weak.lock()) self->advance();
    });
  };
  // The last word of the last thread: nothing is left to wait for. The stream may still have
  // output to send, and then keeps the search.
  events.on_done = [this, number] { loop_.post([this, number] { searches_.erase(number); }); };
  const auto search =
      std::make_shared<Kind>(ground_, start.path, std::move(query), std::move(events));
  const Result<void> started = search->start();
  if (!started) {
    stream.fail(started.error());
    return nullptr;
  }
  searches_.emplace(number, search);
  handler->begin(search, start.time);
  return handler;
}

std::shared_ptr<StreamHandler> SearchService::grep(wire::GrepRequest request,
                                                   const StreamRef& stream) {
  return begin<GrepSearch>(request.start, std::move(request.query), stream);
}

std::shared_ptr<StreamHandler> SearchService::find(wire::FindRequest request,
                                                   const StreamRef& stream) {
  return begin<FindSearch>(request.start, std::move(request.query), stream);
}

}  // namespace cove::agent

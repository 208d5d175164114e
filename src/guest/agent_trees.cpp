// Trees and watches over the wire.
#include <utility>

#include "guest/agent_client.hpp"
#include "guest/tree_filter.hpp"
#include "wire/file_reply.hpp"

namespace cove::guest {
namespace {

constexpr std::uint64_t kWatchWindow = 256 * 1024;

/// A directory's archive, of which only what is harmless is passed on.
class TreeSource final : public ByteSource {
 public:
  explicit TreeSource(std::shared_ptr<StreamOwner> stream)
      : link_(stream->link()), archive_(make_source(std::move(stream), UINT64_MAX)) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    while (!ended_) {
      COVE_CO_TRY(const Bytes piece, co_await archive_->next(call));
      ended_ = piece.empty();
      good_ = good_ ? checked(*link_, ended_ ? filter_.finish() : filter_.feed(piece)) : good_;
      if (!good_) co_return good_.error();
      Bytes passed = filter_.take();
      if (!passed.empty()) co_return passed;
    }
    co_return Bytes();
  }

 private:
  LinkPtr link_;
  std::unique_ptr<ByteSource> archive_;
  TreeFilter filter_;
  Result<void> good_ = ok();
  bool ended_ = false;
};

class AgentWatch final : public GuestWatch {
 public:
  explicit AgentWatch(std::shared_ptr<StreamOwner> stream) : owner_(std::move(stream)) {}

  Task<Result<std::vector<FileEvent>>> next(const CallContext& call) override {
    const auto owner = owner_;
    StreamOwner& stream = *owner;
    while (stream->arrived.empty() && !stream->is_over()) {
      COVE_CO_TRY_VOID(co_await stream->changed(call));
    }
    if (stream->arrived.empty()) {
      if (stream->error) co_return *stream->error;
      const Error error(ErrorCode::kIntegrity, "an answer to a watch, which has no end of its own");
      co_return checked<std::vector<FileEvent>>(*stream.link(), error);
    }
    const Bytes bytes = stream->take_arrived().bytes;
    stream.link()->connection->used(*stream, bytes.size());
    auto events = checked(*stream.link(), wire::parse_file_events(bytes));
    if (!events || !events->empty()) co_return events;
    const Error error(ErrorCode::kIntegrity, "an empty list of events");
    co_return checked<std::vector<FileEvent>>(*stream.link(), error);
  }

 private:
  std::shared_ptr<StreamOwner> owner_;
};

}  // namespace

Task<Result<std::unique_ptr<ByteSource>>> AgentFiles::read_tree(const GuestPath& path,
                                                                const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::TreeOutRequest body;
  body.path = path;
  body.credit = kFileWindow;
  const wire::Request request = file_request(*link, std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kFileWindow));
  COVE_CO_TRY_VOID(co_await await_open(*owner, call));
  co_return std::unique_ptr<ByteSource>(std::make_unique<TreeSource>(owner));
}

Task<Result<TreeCounts>> AgentFiles::write_tree(const GuestPath& path, ByteSource& archive,
                                                const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::TreeInRequest body;
  body.path = path;
  const wire::Request request = file_request(*link, std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, 0, true));
  COVE_CO_TRY_VOID(co_await send_all(*owner, archive, call));
  co_return checked(*link, wire::parse_tree_counts(*(*owner)->response));
}

Task<Result<std::unique_ptr<GuestWatch>>> AgentFiles::watch(const GuestPath& path,
                                                            const WatchOptions& options,
                                                            const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::WatchRequest body;
  body.path = path;
  body.options = options;
  body.credit = kWatchWindow;
  const wire::Request request = file_request(*link, std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kWatchWindow));
  COVE_CO_TRY_VOID(co_await await_open(*owner, call));
  co_return std::unique_ptr<GuestWatch>(std::make_unique<AgentWatch>(owner));
}

}  // namespace cove::guest

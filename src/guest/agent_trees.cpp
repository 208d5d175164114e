// Trees and watches over the wire.
#include <utility>

#include "guest/agent_client.hpp"
#include "wire/file_reply.hpp"

namespace cove::guest {
namespace {

constexpr std::uint64_t kWatchWindow = 256 * 1024;

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
      co_return Error(ErrorCode::kUnavailable, "the agent ended the watch");
    }
    const Bytes bytes = stream->take_arrived().bytes;
    stream.link()->connection->used(*stream, bytes.size());
    co_return checked(*stream.link(), wire::parse_file_events(bytes));
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
  COVE_CO_TRY_VOID(co_await await_event(*owner, call));
  co_return make_source(owner);
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
  COVE_CO_TRY_VOID(co_await await_event(*owner, call));
  co_return std::unique_ptr<GuestWatch>(std::make_unique<AgentWatch>(owner));
}

}  // namespace cove::guest

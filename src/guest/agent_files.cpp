// Files over the wire: what carries data moves as fast as the slower side takes it.
#include <algorithm>
#include <utility>

#include "guest/agent_client.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

constexpr std::uint64_t kFileWindow = 1024 * 1024;
constexpr std::uint32_t kMaxPage = 10'000;

/// How long a cancelled upload's real outcome is waited for.
constexpr std::chrono::seconds kSettleTime{5};

/// A file being read: the agent reads on as pieces are taken.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::shared_ptr<StreamOwner> stream) : owner_(std::move(stream)) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    const auto owner = owner_;
    StreamOwner& stream = *owner;
    while (stream->arrived.empty() && !stream->is_over()) {
      COVE_CO_TRY_VOID(co_await stream->changed(call));
    }
    if (stream->arrived.empty()) {
      if (stream->error) co_return *stream->error;
      co_return finish(stream);
    }
    Bytes bytes = std::move(stream->arrived.front().bytes);
    stream->arrived.pop_front();
    received_ += bytes.size();
    stream.link()->connection->used(*stream, bytes.size());
    co_return bytes;
  }

 private:
  Result<Bytes> finish(StreamOwner& stream) const {
    COVE_TRY(const auto reply, checked(*stream.link(), wire::parse_count(*stream->response)));
    if (reply.count == received_) return Bytes();
    return Error(ErrorCode::kProvider, "the agent says " + std::to_string(reply.count) +
                                           " bytes, but " + std::to_string(received_) + " came");
  }

  std::shared_ptr<StreamOwner> owner_;
  std::uint64_t received_ = 0;
};

/// Sends the content as it comes; ends early where the agent has answered already.
Task<Result<void>> send_content(const StreamOwner& stream, ByteSource& content,
                                const CallContext& call) {
  for (;;) {
    Result<Bytes> bytes = co_await content.next(call);
    if (!bytes) co_return bytes.error();
    Stream::Piece piece;
    piece.end = bytes->empty();
    piece.bytes = std::move(*bytes);
    const bool last = piece.end;
    stream.link()->connection->send(*stream, std::move(piece));
    while (!stream->outgoing.empty() && !stream->is_over()) {
      COVE_CO_TRY_VOID(co_await stream->changed(call));
    }
    if (last || stream->is_over()) co_return ok();
  }
}

Task<Result<void>> await_answer(const StreamOwner& stream, const CallContext& call) {
  while (!stream->is_over()) COVE_CO_TRY_VOID(co_await stream->changed(call));
  co_return ok();
}

/// After `cause` ended an upload: takes it back, and hears what became of it. A commit that was
/// under way may have won.
Task<Result<void>> take_back(const StreamOwner& stream, Error cause) {
  const wire::Cancel cancel{.timed_out = cause.code() == ErrorCode::kTimeout, .discard = true};
  stream.link()->connection->cancel(*stream, cancel);
  CallContext patience;
  patience.deadline = stream.link()->runtime.clock.now() + kSettleTime;
  const Result<void> settled = co_await await_answer(stream, patience);
  if (settled && stream->response) co_return ok();
  co_return cause;
}

Result<void> take_entries(StreamOwner& stream, FilePage& page) {
  while (!stream->arrived.empty()) {
    const Bytes bytes = std::move(stream->arrived.front().bytes);
    stream->arrived.pop_front();
    COVE_TRY(auto entries, checked(*stream.link(), wire::parse_entries(bytes)));
    page.entries.insert(page.entries.end(), std::make_move_iterator(entries.begin()),
                        std::make_move_iterator(entries.end()));
    if (page.entries.size() > kMaxPage) {
      return checked<void>(*stream.link(),
                           Error(ErrorCode::kIntegrity, "a page of more than 10,000 entries"));
    }
    stream.link()->connection->used(*stream, bytes.size());
  }
  return ok();
}

}  // namespace

Task<Result<std::unique_ptr<ByteSource>>> AgentGuest::read_file(const GuestPath& path,
                                                                const ReadRange& range,
                                                                const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::ReadRequest body;
  body.path = path;
  body.range = range;
  body.credit = kFileWindow;
  const wire::Request request = link->request(std::move(body));
  COVE_CO_TRY(const auto owner, open_stream(link, request, kFileWindow));
  StreamOwner& stream = *owner;
  while (!stream->event && !stream->is_over()) {
    COVE_CO_TRY_VOID(co_await stream->changed(call));
  }
  if (stream->error) co_return *stream->error;
  co_return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(owner));
}

Task<Result<FileInfo>> AgentGuest::write_file(const GuestPath& path, ByteSource& content,
                                              const WriteOptions& options,
                                              const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::WriteRequest body;
  body.path = path;
  body.options = options;
  const wire::Request request = link->request(std::move(body));
  COVE_CO_TRY(const auto owner, open_stream(link, request, 0));
  StreamOwner& stream = *owner;
  Result<void> sent = co_await send_content(stream, content, call);
  if (sent) sent = co_await await_answer(stream, call);
  if (!sent && !stream->is_over()) {
    const Error cause = sent.error();
    COVE_CO_TRY_VOID(co_await take_back(stream, cause));
  }
  if (stream->error) co_return *stream->error;
  co_return checked(*link, wire::parse_file_info(*stream->response));
}

Task<Result<FileInfo>> AgentGuest::stat(const GuestPath& path, const CallContext& call) {
  const LinkPtr link = link_;
  wire::StatRequest body;
  body.path = path;
  wire::Request request = link->request(std::move(body));
  COVE_CO_TRY(const Bytes payload, co_await ask(link, std::move(request), call));
  co_return checked(*link, wire::parse_file_info(payload));
}

Task<Result<FilePage>> AgentGuest::list(const GuestPath& path, const ListOptions& options,
                                        const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::ListRequest body;
  body.path = path;
  body.options = options;
  body.credit = kFileWindow;
  const wire::Request request = link->request(std::move(body));
  COVE_CO_TRY(const auto owner, open_stream(link, request, kFileWindow));
  StreamOwner& stream = *owner;
  FilePage page;
  for (;;) {
    COVE_CO_TRY_VOID(take_entries(stream, page));
    if (stream->is_over()) break;
    COVE_CO_TRY_VOID(co_await stream->changed(call));
  }
  if (stream->error) co_return *stream->error;
  COVE_CO_TRY(auto reply, checked(*link, wire::parse_count(*stream->response)));
  if (reply.count != page.entries.size()) {
    co_return Error(ErrorCode::kIntegrity, "the agent's page is not as long as it says");
  }
  page.next = std::move(reply.next);
  co_return page;
}

Task<Result<void>> AgentGuest::make_directory(const GuestPath& path, const CallContext& call) {
  const LinkPtr link = link_;
  wire::MakeDirectoryRequest body;
  body.path = path;
  wire::Request request = link->request(std::move(body));
  const Result<Bytes> answer = co_await ask(link, std::move(request), call);
  if (!answer) co_return answer.error();
  co_return ok();
}

Task<Result<void>> AgentGuest::remove(const GuestPath& path, bool recursive,
                                      const CallContext& call) {
  const LinkPtr link = link_;
  wire::RemoveRequest body;
  body.path = path;
  body.recursive = recursive;
  wire::Request request = link->request(std::move(body));
  const Result<Bytes> answer = co_await ask(link, std::move(request), call);
  if (!answer) co_return answer.error();
  co_return ok();
}

Task<Result<void>> AgentGuest::sync(const CallContext& call) {
  const LinkPtr link = link_;
  const wire::SyncRequest body;
  wire::Request request = link->request(body);
  const Result<Bytes> answer = co_await ask(link, std::move(request), call);
  if (!answer) co_return answer.error();
  co_return ok();
}

}  // namespace cove::guest

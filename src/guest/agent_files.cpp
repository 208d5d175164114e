// Files over the wire: what carries data moves as fast as the slower side takes it.
#include <algorithm>
#include <utility>

#include "guest/agent_client.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

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
    Bytes bytes = stream->take_arrived().bytes;
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

/// What ended `before` the answer, if something did, ends the wait for it.
Task<Result<void>> settle(const StreamOwner& stream, Result<void> before, const CallContext& call) {
  if (before) before = co_await await_answer(stream, call);
  if (!before && !stream->is_over()) {
    const Error cause = before.error();
    COVE_CO_TRY_VOID(co_await take_back(stream, cause));
  }
  if (stream->error) co_return *stream->error;
  co_return ok();
}

/// Adds what came to the text. False: more than was asked for.
bool take_text(StreamOwner& stream, std::uint64_t most, std::string& text) {
  while (!stream->arrived.empty()) {
    const Bytes bytes = stream->take_arrived().bytes;
    if (text.size() + bytes.size() > most) return false;
    // SAFETY: bytes seen as characters.
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    stream.link()->connection->used(*stream, bytes.size());
  }
  return true;
}

Result<void> take_entries(StreamOwner& stream, FilePage& page) {
  while (!stream->arrived.empty()) {
    const Bytes bytes = stream->take_arrived().bytes;
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

std::unique_ptr<ByteSource> make_source(std::shared_ptr<StreamOwner> stream) {
  return std::make_unique<FileSource>(std::move(stream));
}

Task<Result<void>> await_event(const StreamOwner& stream, const CallContext& call) {
  while (!stream->event && !stream->is_over()) {
    COVE_CO_TRY_VOID(co_await stream->changed(call));
  }
  if (stream->error) co_return *stream->error;
  if (stream->event) co_return ok();
  co_return checked<void>(*stream.link(),
                          Error(ErrorCode::kIntegrity, "an answer without what comes before it"));
}

Task<Result<void>> await_settled(const StreamOwner& stream, const CallContext& call) {
  return settle(stream, ok(), call);
}

Task<Result<void>> send_all(const StreamOwner& stream, ByteSource& content,
                            const CallContext& call) {
  Result<void> sent = co_await send_content(stream, content, call);
  COVE_CO_TRY_VOID(co_await settle(stream, std::move(sent), call));
  co_return ok();
}

Task<Result<GuestFile>> AgentFiles::read_file(const GuestPath& path, const ReadRange& range,
                                              const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::ReadRequest body;
  body.path = path;
  body.range = range;
  body.credit = kFileWindow;
  const wire::Request request = link->request(std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kFileWindow));
  COVE_CO_TRY_VOID(co_await await_event(*owner, call));
  COVE_CO_TRY(auto opened, checked(*link, wire::parse_opened(*(*owner)->event)));
  GuestFile file;
  file.info = std::move(opened.info);
  file.content_type = std::move(opened.content_type);
  file.length = opened.length;
  file.content = make_source(owner);
  co_return file;
}

Task<Result<LineSlice>> AgentFiles::read_lines(const GuestPath& path, const LineRange& range,
                                               const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::ReadLinesRequest body;
  body.path = path;
  body.range = range;
  body.credit = kFileWindow;
  const wire::Request request = file_request(*link, std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kFileWindow));
  StreamOwner& stream = *owner;
  std::string text;
  for (;;) {
    if (!take_text(stream, range.max_bytes, text)) {
      const Error error(ErrorCode::kIntegrity, "more text than was asked for");
      co_return checked<LineSlice>(*link, error);
    }
    if (stream->is_over()) break;
    COVE_CO_TRY_VOID(co_await stream->changed(call));
  }
  if (stream->error) co_return *stream->error;
  COVE_CO_TRY(LineSlice slice, checked(*link, wire::parse_line_slice(*stream->response)));
  slice.text = std::move(text);
  co_return slice;
}

Task<Result<FileInfo>> AgentFiles::write_file(const GuestPath& path, ByteSource& content,
                                              const WriteOptions& options,
                                              const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::WriteRequest body;
  body.path = path;
  body.options = options;
  const wire::Request request = link->request(std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, 0, true));
  COVE_CO_TRY_VOID(co_await send_all(*owner, content, call));
  co_return checked(*link, wire::parse_file_info(*(*owner)->response));
}

Task<Result<FileInfo>> AgentFiles::stat(const GuestPath& path, const CallContext& call) {
  const LinkPtr link = link_;
  wire::StatRequest body;
  body.path = path;
  wire::Request request = link->request(std::move(body), call);
  COVE_CO_TRY(const Bytes payload, co_await ask(link, std::move(request), call));
  co_return checked(*link, wire::parse_file_info(payload));
}

Task<Result<FilePage>> AgentFiles::list(const GuestPath& path, const ListOptions& options,
                                        const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::ListRequest body;
  body.path = path;
  body.options = options;
  body.credit = kFileWindow;
  const wire::Request request = link->request(std::move(body), call);
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

Task<Result<void>> AgentGuest::sync(const CallContext& call) {
  const LinkPtr link = link_;
  const wire::SyncRequest body;
  wire::Request request = link->request(body, call);
  const Result<Bytes> answer = co_await ask(link, std::move(request), call);
  if (!answer) co_return answer.error();
  co_return ok();
}

}  // namespace cove::guest

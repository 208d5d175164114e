// Files over the wire: what carries data moves as fast as the slower side takes it.
#include <algorithm>
#include <utility>

#include "guest/agent_client.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

constexpr std::uint32_t kMaxPage = 10'000;
constexpr std::size_t kMaxPageBytes = 4U << 20U;  // of its names and link targets
constexpr std::uint64_t kMaxLineBytes = 8U << 20U;

/// How long a cancelled upload's real outcome is waited for.
constexpr std::chrono::seconds kSettleTime{5};

/// A file being read: the agent reads on as pieces are taken.
class FileSource final : public ByteSource {
 public:
  FileSource(std::shared_ptr<StreamOwner> stream, std::uint64_t most)
      : owner_(std::move(stream)), most_(most) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    const auto owner = owner_;
    StreamOwner& stream = *owner;
    // Pieces may come for ever, and each before the deadline's timer runs.
    if (!stream->is_over()) COVE_CO_TRY_VOID(call.check(stream.link()->runtime.clock));
    while (stream->arrived.empty() && !stream->is_over()) {
      COVE_CO_TRY_VOID(co_await stream->changed(call));
    }
    if (stream->arrived.empty()) {
      if (stream->error) co_return *stream->error;
      co_return finish(stream);
    }
    Bytes bytes = stream->take_arrived().bytes;
    if (bytes.size() > most_ - received_) {
      const Error error(ErrorCode::kIntegrity, "more bytes than it says that there are");
      co_return checked<Bytes>(*stream.link(), error);
    }
    received_ += bytes.size();
    stream.link()->connection->used(*stream, bytes.size());
    co_return bytes;
  }

 private:
  Result<Bytes> finish(StreamOwner& stream) const {
    COVE_TRY(const auto reply, checked(*stream.link(), wire::parse_count(*stream->response)));
    if (reply.count == received_) return Bytes();
    const Error error(ErrorCode::kIntegrity, "it says " + std::to_string(reply.count) +
                                                 " bytes, but " + std::to_string(received_) +
                                                 " came");
    return checked<Bytes>(*stream.link(), error);
  }

  std::shared_ptr<StreamOwner> owner_;
  std::uint64_t most_;
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

/// Takes the entries of a page as they come.
class PageTaker {
 public:
  PageTaker(StreamOwner& stream, const ListOptions& options)
      : stream_(stream), options_(options), most_(std::min(options.limit, kMaxPage)) {}

  Result<void> take() {
    while (!stream_->arrived.empty()) {
      const Bytes piece = stream_->take_arrived().bytes;
      COVE_TRY(auto entries, checked(*stream_.link(), wire::parse_entries(piece)));
      for (FileInfo& entry : entries) {
        bytes_ += entry.path.size() + entry.link_target.size();
        page_.entries.push_back(std::move(entry));
      }
      if (page_.entries.size() > most_ || bytes_ > kMaxPageBytes) {
        return broken("a page is longer than was asked for");
      }
      stream_.link()->connection->used(*stream_, piece.size());
    }
    return ok();
  }

  Result<FilePage> finish() {
    COVE_TRY(auto reply, checked(*stream_.link(), wire::parse_count(*stream_->response)));
    Result<void> good = ok();
    if (reply.count != page_.entries.size()) good = broken("a page is not as long as it says");
    // Whoever asks for the next page would do so for ever.
    if (!reply.next.empty() && reply.next == options_.after) {
      good = broken("a page is followed by itself");
    }
    if (!good) return good.error();
    page_.next = std::move(reply.next);
    return std::move(page_);
  }

 private:
  Result<void> broken(const char* what) {
    return checked<void>(*stream_.link(), Error(ErrorCode::kIntegrity, what));
  }

  StreamOwner& stream_;
  const ListOptions& options_;
  std::size_t most_;
  std::size_t bytes_ = 0;
  FilePage page_;
};

}  // namespace

std::unique_ptr<ByteSource> make_source(std::shared_ptr<StreamOwner> stream, std::uint64_t most) {
  return std::make_unique<FileSource>(std::move(stream), most);
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

Task<Result<void>> await_open(const StreamOwner& stream, const CallContext& call) {
  COVE_CO_TRY_VOID(co_await await_event(stream, call));
  co_return checked(*stream.link(), wire::parse_nothing(*stream->event));
}

Result<void> check_all_sent(const StreamOwner& stream) {
  if (stream->ended) return ok();
  return checked<void>(*stream.link(),
                       Error(ErrorCode::kIntegrity, "an answer to what was not yet sent"));
}

Task<Result<void>> await_settled(const StreamOwner& stream, const CallContext& call) {
  return settle(stream, ok(), call);
}

Task<Result<void>> send_all(const StreamOwner& stream, ByteSource& content,
                            const CallContext& call) {
  Result<void> sent = co_await send_content(stream, content, call);
  COVE_CO_TRY_VOID(co_await settle(stream, std::move(sent), call));
  co_return check_all_sent(stream);
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
  if (opened.length > range.length.value_or(UINT64_MAX)) {
    const Error error(ErrorCode::kIntegrity, "it gives more than was asked for");
    co_return checked<GuestFile>(*link, error);
  }
  GuestFile file;
  file.info = std::move(opened.info);
  file.content_type = std::move(opened.content_type);
  file.length = opened.length;
  file.content = make_source(owner, opened.length);
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
  const std::uint64_t most = std::min(range.max_bytes, kMaxLineBytes);
  std::string text;
  for (;;) {
    if (!take_text(stream, most, text)) {
      const Error error(ErrorCode::kIntegrity, "more text than was asked for");
      co_return checked<LineSlice>(*link, error);
    }
    if (stream->is_over()) break;
    COVE_CO_TRY_VOID(co_await stream->changed(call));
  }
  if (stream->error) co_return *stream->error;
  COVE_CO_TRY(LineSlice slice,
              checked(*link, wire::parse_line_slice(*stream->response, std::move(text))));
  if (slice.first == range.first && slice.count <= range.count) co_return slice;
  const Error error(ErrorCode::kIntegrity, "other lines than were asked for");
  co_return checked<LineSlice>(*link, error);
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
  PageTaker page(stream, options);
  for (;;) {
    COVE_CO_TRY_VOID(page.take());
    if (stream->is_over()) break;
    COVE_CO_TRY_VOID(co_await stream->changed(call));
  }
  if (stream->error) co_return *stream->error;
  co_return page.finish();
}

Task<Result<void>> AgentGuest::sync(const CallContext& call) {
  const LinkPtr link = link_;
  const wire::SyncRequest body;
  wire::Request request = link->request(body, call);
  co_return co_await ask_plainly(link, std::move(request), call);
}

}  // namespace cove::guest

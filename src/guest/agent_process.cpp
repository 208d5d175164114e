// Commands and processes that are followed: reading their output is what gives them credit.
#include <utility>

#include "base/text/byte_text.hpp"
#include "guest/agent_client.hpp"
#include "wire/kept_output.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

class AgentProcess final : public GuestProcess {
 public:
  AgentProcess(std::shared_ptr<StreamOwner> stream, const wire::RequestId& id,
               const OutputLimits& limits, std::shared_ptr<CommandWait> patience)
      : owner_(std::move(stream)),
        id_(id),
        patience_(std::move(patience)),
        kept_out_(limits),
        kept_err_(limits) {}

  Task<Result<OutputChunk>> next_output(const CallContext& call) override {
    const auto owner = owner_;
    const auto patience = patience_;
    StreamOwner& stream = *owner;
    while (stream->arrived.empty() && !stream->is_over()) {
      COVE_CO_TRY_VOID(co_await patience->changed(stream, call));
    }
    OutputChunk chunk;
    if (stream->arrived.empty()) {
      if (stream->error) co_return *stream->error;
      co_return chunk;
    }
    Stream::Piece piece = take(stream);
    chunk.stream = piece.channel == wire::Channel::kErr ? OutputStream::kErr : OutputStream::kOut;
    chunk.bytes = std::move(piece.bytes);
    co_return chunk;
  }

  Task<Result<void>> write_stdin(ByteView bytes, const CallContext& call) override {
    const auto owner = owner_;
    StreamOwner& stream = *owner;
    if (stdin_closed_ || stream->unread || stream->is_over()) co_return closed();
    Stream::Piece piece;
    piece.bytes.assign(bytes.begin(), bytes.end());
    const auto sent = std::make_shared<std::size_t>(0);
    piece.told = sent;
    if (!bytes.empty()) stream.link()->connection->send(*stream, std::move(piece));
    const Result<void> over = co_await all_sent(owner, call);
    // The rest must not go when the call is long over: it may be written again.
    if (!over) take_back(*stream, sent);
    if (!over) co_return over.error().with_context("written", std::to_string(*sent));
    if (*sent < bytes.size()) co_return unread(*stream, *sent, bytes.size());
    co_return ok();
  }

  Task<Result<void>> close_stdin(const CallContext& call) override {
    const auto owner = owner_;
    StreamOwner& stream = *owner;
    if (stdin_closed_) co_return ok();
    stdin_closed_ = true;
    Stream::Piece end;
    end.end = true;
    stream.link()->connection->send(*stream, std::move(end));
    // Whoever lets go of the command next must not take the end back.
    co_return co_await all_sent(owner, call);
  }

  Task<Result<void>> signal(std::int32_t signal, const CallContext& call) override {
    const wire::SignalRequest body{id_, signal};
    co_return co_await tell(body, call);
  }

  Task<Result<void>> resize(TerminalSize size, const CallContext& call) override {
    const wire::ResizeRequest body{id_, size};
    co_return co_await tell(body, call);
  }

  Task<Result<void>> cancel(const CallContext&) override {
    StreamOwner& stream = *owner_;
    if (!stream->is_over()) stream.link()->connection->cancel(*stream, wire::Cancel());
    co_return ok();
  }

  Task<Result<ExecResult>> wait(const CallContext& call) override {
    const auto owner = owner_;
    const auto patience = patience_;
    StreamOwner& stream = *owner;
    for (;;) {
      while (!stream->arrived.empty()) take(stream);
      if (stream->is_over()) break;
      // News may come faster than the deadline's timer runs.
      COVE_CO_TRY_VOID(call.check(stream.link()->runtime.clock));
      COVE_CO_TRY_VOID(co_await patience->changed(stream, call));
    }
    if (stream->error) co_return *stream->error;
    if (result_) co_return *result_;
    COVE_CO_TRY(const auto reply,
                checked(*stream.link(), wire::parse_exec_reply(*stream->response)));
    if (!are_counted(kept_out_.total(), reply.out) || !are_counted(kept_err_.total(), reply.err)) {
      const Error error(ErrorCode::kIntegrity, "more output came than the answer says");
      co_return checked<ExecResult>(*stream.link(), error);
    }
    ExecResult result = wire::result_of(reply);
    join(kept_out_.take(), result.out);
    join(kept_err_.take(), result.err);
    result_ = result;
    co_return result;
  }

  static Error unread(const Stream& stream, std::size_t sent, std::size_t size) {
    const std::string what =
        stream.is_over() ? "the command ended" : "the command closed its stdin";
    return Error(ErrorCode::kFailedPrecondition, what + " when " + std::to_string(sent) + " of " +
                                                     std::to_string(size) +
                                                     " bytes were written to it")
        .with_context("written", std::to_string(sent));
  }

  static Error closed() {
    return {ErrorCode::kFailedPrecondition, "the command's stdin is closed"};
  }

  bool stdin_closed_ = false;

 private:
  static Task<Result<void>> all_sent(std::shared_ptr<StreamOwner> owner, const CallContext& call) {
    StreamOwner& stream = *owner;
    while (!stream->outgoing.empty() && !stream->is_over()) {
      COVE_CO_TRY_VOID(co_await stream->changed(call));
    }
    if (stream->error) co_return *stream->error;
    co_return ok();
  }

  static void take_back(Stream& stream, const std::shared_ptr<std::size_t>& sent) {
    std::erase_if(stream.outgoing, [&](const Stream::Piece& piece) { return piece.told == sent; });
    if (stream.outgoing.empty()) stream.notify();
  }

  template <class Body>
  Task<Result<void>> tell(Body body, const CallContext& call) {
    const LinkPtr link = owner_->link();
    wire::Request request = link->request(std::move(body), call);
    co_return co_await ask_plainly(link, std::move(request), call);
  }

  /// Whether what came, and what the agent had to drop, is within what it counted.
  static bool are_counted(std::uint64_t came, const wire::StreamCounts& counts) {
    return counts.dropped_bytes <= counts.total_bytes &&
           came <= counts.total_bytes - counts.dropped_bytes;
  }

  /// What came here, into what the agent counted: it may have had to drop some before.
  static void join(StreamOutput kept, StreamOutput& output) {
    output.head = std::move(kept.head);
    output.tail = std::move(kept.tail);
    output.dropped_bytes += kept.dropped_bytes;
  }

  /// The next piece of output; it also counts in the result, read or not.
  Stream::Piece take(StreamOwner& stream) {
    Stream::Piece piece = stream->take_arrived();
    stream.link()->connection->used(*stream, piece.bytes.size());
    auto& kept = piece.channel == wire::Channel::kErr ? kept_err_ : kept_out_;
    kept.append(base::text_of(piece.bytes));
    return piece;
  }

  std::shared_ptr<StreamOwner> owner_;
  wire::RequestId id_;
  std::shared_ptr<CommandWait> patience_;
  wire::KeptOutput kept_out_;
  wire::KeptOutput kept_err_;
  std::optional<ExecResult> result_;
};

}  // namespace

Task<Result<std::shared_ptr<GuestProcess>>> start_streamed(LinkPtr link, const std::string& session,
                                                           const ExecSpec& spec, bool keep_stdin,
                                                           const CallContext& call) {
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  CommandForm form;
  form.streamed = true;
  form.keep_stdin = keep_stdin;
  COVE_CO_TRY(CommandRequest command, make_command(*link, session, spec, form, call));
  COVE_CO_TRY(const auto owner, open_stream(link, command.request, kStreamWindow));
  StreamOwner& stream = *owner;
  stream->collect = command.request.id;
  stream->takes_output = true;
  for (auto& piece : command.pieces) link->connection->send(*stream, std::move(piece));
  const auto patience = std::make_shared<CommandWait>(*link, spec);
  auto process = std::make_shared<AgentProcess>(owner, command.request.id, spec.output, patience);
  process->stdin_closed_ = !keep_stdin;
  const std::chrono::milliseconds grace = spec.kill_grace;
  while (!stream->event && !stream->is_over()) {
    const Result<void> changed = co_await patience->changed(stream, call);
    if (changed) continue;
    // It may run already: where the call ends, it ends first.
    const CallContext bound{.deadline = link->runtime.clock.now() + grace + kEndTime, .stop = {}};
    static_cast<void>(co_await process->cancel(bound));
    static_cast<void>(co_await process->wait(bound));
    co_return changed.error();
  }
  if (stream->error) co_return *stream->error;
  if (stream->event) COVE_CO_TRY_VOID(checked(*link, wire::parse_nothing(*stream->event)));
  co_return std::shared_ptr<GuestProcess>(std::move(process));
}

Task<Result<std::shared_ptr<GuestProcess>>> attach_to(LinkPtr link, const ProcessId& id,
                                                      const AttachOptions& options,
                                                      const CallContext& call) {
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  wire::AttachRequest body;
  COVE_CO_TRY(body.process, request_id_of(id));
  body.from = options;
  body.credit = kStreamWindow;
  const wire::Request request = link->request(body, call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kStreamWindow));
  (*owner)->takes_output = true;
  COVE_CO_TRY_VOID(co_await await_event(*owner, call));
  COVE_CO_TRY_VOID(checked(*link, process_info_of(*(*owner)->event, body.process)));
  const OutputLimits limits;
  auto process =
      std::make_shared<AgentProcess>(owner, body.process, limits, std::make_shared<CommandWait>());
  co_return std::shared_ptr<GuestProcess>(std::move(process));
}

}  // namespace cove::guest

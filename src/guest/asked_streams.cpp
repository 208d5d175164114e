// Streams that the agent opens: docs/wire-protocol.md, "Streams of the agent".
#include <utility>

#include "guest/connection.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

constexpr std::size_t kJoinedBytes = 64 * 1024;

Error violation(const std::string& what) {
  return {ErrorCode::kProvider, "the agent broke the protocol: " + what};
}

/// What waits unread costs no more than its bytes, however small the pieces were that it came in.
void keep(ByteView bytes, Stream& stream) {
  if (stream.arrived.empty() || stream.arrived.back().bytes.size() + bytes.size() > kJoinedBytes) {
    stream.arrived.push_back({wire::Channel::kMain, {}});
  }
  Bytes& last = stream.arrived.back().bytes;
  last.insert(last.end(), bytes.begin(), bytes.end());
}

}  // namespace

Result<void> Connection::take_of_agent(const wire::FrameView& frame) {
  if (!serve_) return violation("a stream of its own, which this host does not serve");
  if (frame.type == wire::FrameType::kRequest) return take_request(frame);
  const auto found = streams_.find(frame.stream);
  if (found != streams_.end()) {
    const auto stream = found->second;
    return take_on_asked(frame, *stream);
  }
  // The agent had not yet heard that the stream was over.
  if (frame.stream <= last_asked_) return ok();
  return violation("a frame of a stream that is not open");
}

Result<void> Connection::take_request(const wire::FrameView& frame) {
  if (frame.stream <= last_asked_) return violation("a stream that was open before");
  COVE_TRY_VOID(check_unsent());
  last_asked_ = frame.stream;
  auto request = wire::parse_connect(frame.payload);
  if (!request && request.error().code() != ErrorCode::kUnsupported) {
    return violation(request.error().message());
  }
  Result<void> refusal = ok();
  if (!request) refusal = request.error();
  if (asked_streams_ >= wire::kMaxAgentStreams) {
    refusal = Error(ErrorCode::kQuotaExceeded, "256 connections are open already");
  }
  if (!refusal) {
    wire::append_frame(out_, wire::FrameType::kError, wire::Channel::kMain, frame.stream,
                       wire::encode_error(refusal.error()));
    flush();
    return ok();
  }
  const auto stream = std::make_shared<Stream>(loop_, frame.stream, wire::kAgentStreamCredit);
  stream->credit = wire::SendWindow(request->credit);
  stream->asked.emplace(Stream::Asked{});
  streams_.emplace(frame.stream, stream);
  ++asked_streams_;
  serve_(stream, *std::move(request));
  return ok();
}

Result<void> Connection::take_on_asked(const wire::FrameView& frame, Stream& stream) {
  switch (frame.type) {
    case wire::FrameType::kData:
      if (stream.asked->ended || frame.channel != wire::Channel::kMain) {
        return violation("data after its end");
      }
      if (!stream.received.receive(frame.payload.size()))
        return violation("more data than allowed");
      if (frame.payload.empty()) return ok();
      keep(frame.payload, stream);
      stream.notify();
      return ok();
    case wire::FrameType::kEnd:
      if (frame.channel != wire::Channel::kMain || !frame.payload.empty()) {
        return violation("an end that is malformed");
      }
      stream.asked->ended = true;
      stream.notify();
      return ok();
    case wire::FrameType::kCredit: {
      const auto credit = wire::read_credit(frame.payload);
      if (!credit) return violation(credit.error().message());
      stream.credit.grant(*credit);
      pump(stream);
      flush();
      return ok();
    }
    case wire::FrameType::kCancel:
      forget(stream, Error(ErrorCode::kCancelled, "the client inside went away"));
      return ok();
    default: return violation("a frame that only a host sends");
  }
}

/// Ends a stream on this side.
void Connection::forget(Stream& stream, const Error& why) {
  if (stream.is_over()) return;
  stream.error = why;
  stream.arrived.clear();
  stream.outgoing.clear();
  --asked_streams_;
  stream.asked->over.request_stop();
  stream.notify();
  streams_.erase(stream.number());
}

void Connection::announce(const Stream& stream) {
  if (stream.is_over() || lost_) return;
  wire::append_frame(out_, wire::FrameType::kEvent, wire::Channel::kMain, stream.number(),
                     wire::encode_nothing());
  flush();
}

void Connection::answer(Stream& stream, const Result<void>& ending) {
  if (stream.is_over() || lost_) return;
  const Bytes payload = ending ? wire::encode_nothing() : wire::encode_error(ending.error());
  wire::append_frame(out_, ending ? wire::FrameType::kResponse : wire::FrameType::kError,
                     wire::Channel::kMain, stream.number(), payload);
  forget(stream, Error(ErrorCode::kCancelled, "the stream was answered"));
  flush();
}

}  // namespace cove::guest

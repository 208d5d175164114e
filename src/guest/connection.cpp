#include "guest/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <poll.h>
#include <sys/socket.h>

#include "base/system/system_error.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

constexpr std::size_t kHighWater = 1024 * 1024;
constexpr std::chrono::milliseconds kLazyFlush{100};
constexpr std::size_t kJoinedBytes = 64 * 1024;

/// What waits unread costs more than its bytes: pieces of one byte would be a hundredfold.
constexpr std::size_t kMaxPieces = 16 * 1024;

/// What waits to be sent when a frame comes that is answered at once: an agent that asks on and
/// reads nothing would have the answers pile up here.
constexpr std::size_t kMaxUnsent = 16 * 1024 * 1024;

Error violation(const std::string& what) {
  return {ErrorCode::kProvider, "the agent broke the protocol: " + what};
}

}  // namespace

Connection::Connection(base::IoLoop& loop, const Clock& clock)
    : loop_(loop),
      clock_(clock),
      socket_(loop.context()),
      greeting_(base::Completion<Result<wire::Greeting>>::make(loop)) {}

Result<void> Connection::start(base::UniqueFd socket) {
  boost::system::error_code error;
  socket_.assign(boost::asio::local::stream_protocol(), *socket, error);
  if (error) {
    return Error(ErrorCode::kInvalidArgument, "not a connected Unix socket: " + error.message());
  }
  socket.release();
  socket_.native_non_blocking(true, error);
  if (error) return base::system_error(error.value(), "make the socket non-blocking");
  read();
  return ok();
}

Task<Result<wire::Greeting>> Connection::greeting(const CallContext& call) {
  return base::wait_bounded<wire::Greeting>(greeting_, loop_, call);
}

void Connection::greet(const wire::Greeting& greeting) {
  const Bytes payload = wire::encode_greeting(greeting);
  wire::append_frame(out_, wire::FrameType::kGreeting, wire::Channel::kMain, 0, payload);
  flush();
}

bool Connection::is_open() noexcept {
  if (lost_) return false;
  pollfd socket{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) == 0;
}

std::shared_ptr<Stream> Connection::open(ByteView request, std::uint64_t window,
                                         bool data_follows) {
  // Numbers may come round in a very long life; those still in use are passed over.
  if (next_stream_ >= wire::kFirstAgentStream) next_stream_ = 1;
  while (streams_.contains(next_stream_)) ++next_stream_;
  const auto stream = std::make_shared<Stream>(loop_, next_stream_++, window);
  if (lost_) {
    stream->error = *lost_;
    return stream;
  }
  streams_.emplace(stream->number(), stream);
  wire::append_frame(out_, wire::FrameType::kRequest, wire::Channel::kMain, stream->number(),
                     request);
  if (!data_follows) flush();
  return stream;
}

void Connection::send(Stream& stream, Stream::Piece piece) {
  if (stream.is_over() || stream.unread || lost_) return;
  stream.outgoing.push_back(std::move(piece));
  pump(stream);
  flush();
}

void Connection::pump(Stream& stream) {
  bool moved = false;
  while (!stream.outgoing.empty() && has_room()) {
    Stream::Piece& piece = stream.outgoing.front();
    const std::uint64_t bytes =
        std::min({std::uint64_t{piece.bytes.size() - piece.sent}, stream.credit.available(),
                  std::uint64_t{wire::kMaxDataBytes}});
    if (bytes == 0 && piece.sent < piece.bytes.size()) break;
    const auto count = static_cast<std::size_t>(bytes);
    if (count > 0) {
      wire::append_frame(out_, wire::FrameType::kData, piece.channel, stream.number(),
                         ByteView(piece.bytes).subspan(piece.sent, count));
    }
    stream.credit.spend(bytes);
    moved = true;
    piece.sent += count;
    if (piece.told) *piece.told = piece.sent;
    if (piece.sent < piece.bytes.size()) continue;
    if (piece.end) {
      wire::append_frame(out_, wire::FrameType::kEnd, piece.channel, stream.number(), {});
      stream.ended = true;
    }
    stream.outgoing.pop_front();
  }
  if (moved && stream.outgoing.empty()) stream.notify();
}

void Connection::used(Stream& stream, std::uint64_t bytes) {
  const std::uint64_t credit = stream.received.consume(bytes);
  if (credit == 0 || stream.is_over() || lost_) return;
  wire::append_credit(out_, stream.number(), credit);
  flush();
}

void Connection::cancel(const Stream& stream, const wire::Cancel& cancel) {
  if (stream.is_over() || lost_) return;
  const Bytes payload = wire::encode_cancel(cancel);
  wire::append_frame(out_, wire::FrameType::kCancel, wire::Channel::kMain, stream.number(),
                     payload);
  flush();
}

void Connection::release(const std::shared_ptr<Stream>& stream) {
  stream->abandoned = true;
  stream->arrived.clear();
  stream->outgoing.clear();
  const wire::Cancel discard{.timed_out = false, .discard = true};
  cancel(*stream, discard);
}

bool Connection::has_room() const noexcept { return out_.size() - sent_ < kHighWater; }

Result<void> Connection::check_unsent() const {
  if (out_.size() - sent_ <= kMaxUnsent) return ok();
  return violation("it reads nothing of what it is answered");
}

void Connection::flush() {
  while (!lost_ && sent_ < out_.size()) {
    const ssize_t bytes = ::send(socket_.native_handle(), out_.data() + sent_, out_.size() - sent_,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return wait_for_room();
    if (bytes < 0) {
      // What the agent said before it went away, and why, is still to be read: that ends it.
      if (errno == EPIPE || errno == ECONNRESET) return;
      return lose(Error(ErrorCode::kUnavailable,
                        base::system_error(errno, "the connection to the agent").message()));
    }
    sent_ += static_cast<std::size_t>(bytes);
  }
  out_.clear();
  sent_ = 0;
}

void Connection::wait_for_room() {
  if (sent_ > kHighWater) {
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  if (waiting_for_room_) return;
  waiting_for_room_ = true;
  socket_.async_wait(boost::asio::socket_base::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waiting_for_room_ = false;
                       if (error || self->lost_) return;
                       self->flush();
                       if (!self->has_room()) return;
                       const auto streams = self->streams_;
                       for (const auto& [number, stream] : streams) self->pump(*stream);
                       self->flush();
                     });
}

/// For what the agent can hear later, with the next request.
void Connection::flush_later() {
  if (flush_planned_) return;
  flush_planned_ = true;
  loop_.call_at(clock_.now() + kLazyFlush, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->flush_planned_ = false;
    self->flush();
  });
}

void Connection::read() {
  const auto space = decoder_.space();
  socket_.async_read_some(
      boost::asio::buffer(space.data(), space.size()),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
        if (self->lost_) return;
        if (error) {
          self->lose(Error(ErrorCode::kUnavailable, "the connection to the agent ended"));
          return;
        }
        self->on_read(bytes);
      });
}

void Connection::on_read(std::size_t bytes) {
  decoder_.filled(bytes);
  while (!lost_) {
    const auto frame = decoder_.next();
    if (!frame) return lose(violation(frame.error().message()));
    if (!*frame) break;
    if (const auto taken = take(**frame); !taken) return lose(taken.error());
  }
  if (!lost_) read();
}

Result<void> Connection::take(const wire::FrameView& frame) {
  if (!greeted_) return take_greeting(frame);
  if (frame.stream == 0) {
    const auto refusal = wire::parse_error(frame.payload);
    if (frame.type == wire::FrameType::kError && refusal) return *refusal;
    return violation("a frame without a stream");
  }
  if (frame.stream >= wire::kFirstAgentStream) return take_of_agent(frame);
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return violation("a frame of a stream that is not open");
  const auto stream = found->second;
  return take_on_stream(frame, *stream);
}

Result<void> Connection::take_greeting(const wire::FrameView& frame) {
  if (frame.type != wire::FrameType::kGreeting || frame.stream != 0) {
    return violation("its first frame is no greeting");
  }
  auto greeting = wire::parse_greeting(frame.payload);
  if (!greeting) return violation(greeting.error().message());
  greeted_ = true;
  greeting_->complete(std::move(greeting));
  return ok();
}

Result<void> Connection::take_on_stream(const wire::FrameView& frame, Stream& stream) {
  switch (frame.type) {
    case wire::FrameType::kData: return take_data(frame, stream);
    case wire::FrameType::kCredit: {
      const auto credit = wire::read_credit(frame.payload);
      if (!credit) return violation(credit.error().message());
      stream.credit.grant(*credit);
      pump(stream);
      flush();
      return ok();
    }
    case wire::FrameType::kEnd:
      if (frame.channel != wire::Channel::kMain || !frame.payload.empty()) {
        return violation("an end that is malformed");
      }
      stream.unread = true;
      stream.outgoing.clear();
      stream.notify();
      return ok();
    case wire::FrameType::kEvent:
      if (!stream.event) stream.event.emplace(frame.payload.begin(), frame.payload.end());
      stream.notify();
      return ok();
    case wire::FrameType::kResponse:
      stream.response.emplace(frame.payload.begin(), frame.payload.end());
      end(stream);
      return ok();
    case wire::FrameType::kError:
      stream.error = wire::parse_error(frame.payload);
      if (!stream.error) return violation("an error that is malformed");
      end(stream);
      return ok();
    default: return violation("a frame that only a host sends");
  }
}

Result<void> Connection::take_data(const wire::FrameView& frame, Stream& stream) {
  const bool is_output =
      frame.channel == wire::Channel::kOut || frame.channel == wire::Channel::kErr;
  if (is_output != stream.takes_output || frame.channel == wire::Channel::kArguments) {
    return violation("data on a channel that its stream does not have");
  }
  if (!stream.received.receive(frame.payload.size())) return violation("more data than allowed");
  if (stream.arrived.size() >= kMaxPieces) return violation("its data comes in crumbs");
  if (frame.payload.empty()) return ok();  // to a reader, a piece of nothing is the end
  if (stream.abandoned) {
    used(stream, frame.payload.size());
    return check_unsent();
  }
  // Output is one run of bytes: many small frames do not become many small pieces.
  if (is_output && !stream.arrived.empty() && stream.arrived.back().channel == frame.channel &&
      stream.arrived.back().bytes.size() + frame.payload.size() <= kJoinedBytes) {
    Bytes& last = stream.arrived.back().bytes;
    last.insert(last.end(), frame.payload.begin(), frame.payload.end());
  } else {
    Bytes bytes(frame.payload.begin(), frame.payload.end());
    stream.arrived.push_back({frame.channel, std::move(bytes)});
  }
  stream.notify();
  return ok();
}

void Connection::end(Stream& stream) {
  stream.outgoing.clear();
  if (stream.collect) {
    wire::append_frame(out_, wire::FrameType::kCollected, wire::Channel::kMain, 0, *stream.collect);
    flush_later();
  }
  streams_.erase(stream.number());
  stream.notify();
}

void Connection::lose(const Error& error) {
  if (lost_) return;
  lost_ = error;
  boost::system::error_code ignored;
  socket_.close(ignored);
  out_ = Bytes();
  sent_ = 0;
  greeting_->complete(error);
  for (const auto& [number, stream] : std::exchange(streams_, {})) {
    stream->error = error;
    stream->outgoing.clear();
    if (stream->asked) stream->asked->over.request_stop();
    stream->notify();
  }
  asked_streams_ = 0;
}

}  // namespace cove::guest

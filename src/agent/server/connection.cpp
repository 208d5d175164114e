#include "agent/server/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "wire/reply.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kHighWater = 1024 * 1024;  // queued for a peer that does not read
constexpr std::size_t kReadsAtOnce = 16;         // then the others get their turn
constexpr std::size_t kMaxStreams = 4096;
constexpr std::chrono::seconds kGreetingTime{10};

}  // namespace

bool StreamRef::is_open() const {
  const auto connection = connection_.lock();
  return connection && connection->is_open(stream_);
}

bool StreamRef::has_room() const {
  const auto connection = connection_.lock();
  return connection && connection->has_room();
}

void StreamRef::send_data(wire::Channel channel, ByteView bytes) const {
  const auto connection = connection_.lock();
  if (connection) connection->send(wire::FrameType::kData, channel, stream_, bytes);
}

void StreamRef::send_event(ByteView payload) const {
  const auto connection = connection_.lock();
  if (!connection) return;
  connection->send(wire::FrameType::kEvent, wire::Channel::kMain, stream_, payload);
}

void StreamRef::send_credit(std::uint64_t bytes) const {
  const auto connection = connection_.lock();
  if (connection && bytes > 0) connection->send_credit(stream_, bytes);
}

void StreamRef::send_end(wire::Channel channel) const {
  const auto connection = connection_.lock();
  if (connection) connection->send(wire::FrameType::kEnd, channel, stream_, {});
}

void StreamRef::cancel() const {
  const auto connection = connection_.lock();
  if (!connection || !connection->is_open(stream_)) return;
  const Bytes payload = wire::encode_cancel({.timed_out = false, .discard = true});
  connection->send(wire::FrameType::kCancel, wire::Channel::kMain, stream_, payload);
  connection->end_stream(stream_);
}

void StreamRef::respond(ByteView payload) const {
  const auto connection = connection_.lock();
  if (!connection) return;
  connection->send(wire::FrameType::kResponse, wire::Channel::kMain, stream_, payload);
  connection->end_stream(stream_);
}

void StreamRef::fail(const Error& error) const { fail_with(wire::encode_error(error)); }

void StreamRef::fail_with(ByteView encoded_error) const {
  const auto connection = connection_.lock();
  if (!connection) return;
  connection->send(wire::FrameType::kError, wire::Channel::kMain, stream_, encoded_error);
  connection->end_stream(stream_);
}

Connection::Connection(EventLoop& loop, Owner& owner, base::UniqueFd socket,
                       const wire::Greeting& greeting)
    : loop_(loop), owner_(owner), socket_(std::move(socket)), greeting_(greeting) {}

Connection::~Connection() {
  if (socket_) loop_.remove(*socket_, this);
}

bool Connection::start() {
  if (!loop_.add(*socket_, EPOLLIN, this)) return false;
  greeting_timer_ = loop_.call_after(kGreetingTime, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->greeted_) self->close();
  });
  send(wire::FrameType::kGreeting, wire::Channel::kMain, 0, wire::encode_greeting(greeting_));
  return true;
}

bool Connection::has_room() const noexcept {
  const bool room = out_.size() - sent_ < kHighWater;
  if (!room) starved_ = true;
  return room;
}

void Connection::send(wire::FrameType type, wire::Channel channel, std::uint32_t stream,
                      ByteView payload) {
  if (closed_) return;
  wire::append_frame(out_, type, channel, stream, payload);
  mark_dirty();
}

void Connection::send_credit(std::uint32_t stream, std::uint64_t bytes) {
  if (closed_) return;
  wire::append_credit(out_, stream, bytes);
  mark_dirty();
}

/// All that one round of the loop has to say goes out in one write.
void Connection::mark_dirty() {
  if (dirty_) return;
  dirty_ = true;
  loop_.defer([self = shared_from_this()] {
    self->dirty_ = false;
    self->flush();
  });
}

void Connection::flush() {
  while (!closed_ && sent_ < out_.size()) {
    const ssize_t bytes =
        ::send(*socket_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno != EAGAIN) return close();
    if (bytes < 0) break;
    sent_ += static_cast<std::size_t>(bytes);
  }
  if (closed_) return;
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
  } else if (sent_ > kHighWater) {
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  const bool want_write = !out_.empty();
  if (want_write != watching_write_) {
    watching_write_ = want_write;
    loop_.change(*socket_, want_write ? EPOLLIN | EPOLLOUT : EPOLLIN, this);
  }
  if (starved_ && out_.size() - sent_ < kHighWater / 2) offer_room();
}

/// Goes round from behind the stream that was served last, so that none starves.
void Connection::offer_room() {
  starved_ = false;
  std::vector<std::uint32_t> order;
  order.reserve(streams_.size());
  for (auto next = streams_.upper_bound(last_served_); next != streams_.end(); ++next) {
    order.push_back(next->first);
  }
  for (auto next = streams_.begin(); next != streams_.upper_bound(last_served_); ++next) {
    order.push_back(next->first);
  }
  for (const std::uint32_t stream : order) {
    if (!has_room()) return;
    const auto found = streams_.find(stream);
    if (found == streams_.end()) continue;
    last_served_ = stream;
    const auto handler = found->second;
    handler->on_room();
  }
}

void Connection::on_ready(std::uint32_t events) {
  const auto self = shared_from_this();  // lives to the end of this
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some();
  if (!closed_ && (events & EPOLLOUT) != 0) flush();
}

void Connection::read_some() {
  for (std::size_t turn = 0; turn < kReadsAtOnce; ++turn) {
    const auto space = decoder_.space();
    const ssize_t bytes = ::recv(*socket_, space.data(), space.size(), MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) return close();
    decoder_.filled(static_cast<std::size_t>(bytes));
    if (!read_frames()) return close();
    if (closed_ || static_cast<std::size_t>(bytes) < space.size()) return;
  }
}

bool Connection::read_frames() {
  while (!closed_) {
    const auto frame = decoder_.next();
    if (!frame) return false;
    if (!*frame) return true;
    if (!take(**frame)) return false;
  }
  return true;
}

bool Connection::take(const wire::FrameView& frame) {
  if (!greeted_) return greet(frame);
  if (frame.type == wire::FrameType::kRequest) return open_stream(frame);
  if (frame.type == wire::FrameType::kCollected) return take_collected(frame.payload);
  const auto found = streams_.find(frame.stream);
  // The host had not yet heard that the stream was over.
  if (found == streams_.end()) return true;
  const auto handler = found->second;
  return to_stream(frame, *handler);
}

bool Connection::greet(const wire::FrameView& frame) {
  if (frame.type != wire::FrameType::kGreeting) return false;
  const auto theirs = wire::parse_greeting(frame.payload);
  if (!theirs) return false;
  greeted_ = true;
  loop_.cancel(greeting_timer_);
  const auto version = wire::common_version(greeting_, *theirs);
  const auto identity = wire::check_identity(greeting_, *theirs);
  if (version && identity) {
    const auto& theirs_too = theirs->capabilities;
    serves_proxy_ =
        std::find(theirs_too.begin(), theirs_too.end(), wire::kProxyCapability) != theirs_too.end();
    owner_.on_greeted(*this);
    return true;
  }
  refuse(0, version ? identity.error() : version.error());
  flush();
  return false;
}

bool Connection::open_stream(const wire::FrameView& frame) {
  if (frame.stream == 0 || frame.stream >= wire::kFirstAgentStream) return false;
  if (streams_.contains(frame.stream)) return false;
  loop_.hurry();
  auto request = wire::parse_request(frame.payload);
  if (!request) {
    refuse(frame.stream, request.error());
    return true;
  }
  if (streams_.size() >= kMaxStreams) {
    refuse(frame.stream, Error(ErrorCode::kUnavailable, "4096 requests are in flight already"));
    return true;
  }
  // The place is taken before the handler exists: what it sends at once needs an open stream.
  streams_[frame.stream] = std::make_shared<StreamHandler>();
  auto handler = owner_.on_request(std::move(*request), StreamRef(weak_from_this(), frame.stream));
  const auto place = streams_.find(frame.stream);
  if (place == streams_.end()) return true;
  if (handler) place->second = std::move(handler);
  return true;
}

StreamRef Connection::open(ByteView request, std::shared_ptr<StreamHandler> handler) {
  const bool is_last = last_opened_ == std::numeric_limits<std::uint32_t>::max();
  if (!serves_proxy() || is_last || streams_.size() >= kMaxStreams) return {};
  const std::uint32_t number = ++last_opened_;
  streams_[number] = std::move(handler);
  send(wire::FrameType::kRequest, wire::Channel::kMain, number, request);
  return {weak_from_this(), number};
}

bool Connection::to_stream(const wire::FrameView& frame, StreamHandler& handler) {
  switch (frame.type) {
    case wire::FrameType::kData: return handler.on_data(frame.channel, frame.payload);
    case wire::FrameType::kEnd: handler.on_end(frame.channel); return true;
    case wire::FrameType::kCredit: {
      const auto credit = wire::read_credit(frame.payload);
      if (credit) handler.on_credit(*credit);
      return credit.has_value();
    }
    default:
      return frame.stream < wire::kFirstAgentStream ? to_asked_stream(frame, handler)
                                                    : to_own_stream(frame, handler);
  }
}

/// What only a host sends on a stream that it opened.
bool Connection::to_asked_stream(const wire::FrameView& frame, StreamHandler& handler) {
  if (frame.type != wire::FrameType::kCancel) return false;
  const auto cancel = wire::parse_cancel(frame.payload);
  if (cancel) handler.on_cancel(*cancel);
  return cancel.has_value();
}

/// What only a host sends on a stream that this side opened.
bool Connection::to_own_stream(const wire::FrameView& frame, StreamHandler& handler) {
  switch (frame.type) {
    case wire::FrameType::kEvent: handler.on_event(frame.payload); return true;
    case wire::FrameType::kResponse:
      end_stream(frame.stream);
      handler.on_response(frame.payload);
      return true;
    case wire::FrameType::kError: {
      const auto error = wire::parse_error(frame.payload);
      if (!error) return false;
      end_stream(frame.stream);
      handler.on_error(*error);
      return true;
    }
    default: return false;
  }
}

bool Connection::take_collected(ByteView payload) {
  wire::RequestId id{};
  if (payload.size() != id.size()) return false;
  std::copy(payload.begin(), payload.end(), id.begin());
  owner_.on_collected(id);
  return true;
}

void Connection::refuse(std::uint32_t stream, const Error& error) {
  const Bytes payload = wire::encode_error(error);
  send(wire::FrameType::kError, wire::Channel::kMain, stream, payload);
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();
  loop_.cancel(greeting_timer_);
  loop_.remove(*socket_, this);
  socket_.reset();
  out_ = Bytes();
  const auto streams = std::exchange(streams_, {});
  for (const auto& [stream, handler] : streams) handler->on_lost();
  owner_.on_closed(*this);
}

}  // namespace cove::agent

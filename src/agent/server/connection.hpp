/// Connection: one host process's end of the wire, and StreamRef, through which a request answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include <cove/bytes.hpp>
#include <cove/error.hpp>
#include <cove/result.hpp>

#include "agent/loop/event_loop.hpp"
#include "base/system/unique_fd.hpp"
#include "wire/connect_request.hpp"
#include "wire/frame.hpp"
#include "wire/greeting.hpp"
#include "wire/request.hpp"

namespace cove::agent {

class Connection;

/// What serves one stream. Called on the loop; all but on_lost only while the stream is open.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;

  /// False: more than its credit or not expected; the connection ends.
  virtual bool on_data(wire::Channel, ByteView) { return false; }
  virtual void on_end(wire::Channel) {}
  virtual void on_credit(std::uint64_t) {}
  virtual void on_cancel(const wire::Cancel&) {}

  /// Of a stream that this side opened: news; its good end; its bad end. After the last two it is
  /// open no more.
  virtual void on_event(ByteView) {}
  virtual void on_response(ByteView) {}
  virtual void on_error(const Error&) {}

  /// The connection can take more data again.
  virtual void on_room() {}

  /// The connection is gone and the stream with it.
  virtual void on_lost() {}
};

/// A stream of a connection that may be gone: then everything here does nothing.
class StreamRef {
 public:
  StreamRef() = default;
  StreamRef(std::weak_ptr<Connection> connection, std::uint32_t stream)
      : connection_(std::move(connection)), stream_(stream) {}

  bool is_open() const;
  explicit operator bool() const noexcept { return stream_ != 0; }

  /// False while the peer does not read what is queued already.
  bool has_room() const;

  void send_data(wire::Channel channel, ByteView bytes) const;
  void send_event(ByteView payload) const;
  void send_credit(std::uint64_t bytes) const;
  void send_end(wire::Channel channel) const;

  /// Ends a stream that this side opened: nothing of it is heard any more.
  void cancel() const;

  /// These end a stream that the host opened.
  void respond(ByteView payload) const;
  void fail(const Error& error) const;
  void fail_with(ByteView encoded_error) const;

 private:
  std::weak_ptr<Connection> connection_;
  std::uint32_t stream_ = 0;
};

class Connection final : public Watcher, public std::enable_shared_from_this<Connection> {
 public:
  /// What the server does for a connection.
  struct Owner {
    virtual ~Owner() = default;
    /// Gives the handler of a new stream; null where it was answered already.
    virtual std::shared_ptr<StreamHandler> on_request(wire::Request request, StreamRef stream) = 0;
    virtual void on_collected(const wire::RequestId& id) = 0;
    /// The host was accepted.
    virtual void on_greeted(Connection&) {}
    virtual void on_closed(const Connection& connection) = 0;
  };

  Connection(EventLoop& loop, Owner& owner, base::UniqueFd socket, const wire::Greeting& greeting);
  ~Connection() override;

  /// Greets; false: there is no room to watch it.
  bool start();
  void on_ready(std::uint32_t events) override;

  /// Whether the host takes streams that this side opens.
  bool serves_proxy() const noexcept { return serves_proxy_ && !closed_; }

  /// Opens a stream of this side's own. An empty ref: no more can be opened here.
  StreamRef open(ByteView request, std::shared_ptr<StreamHandler> handler);

  bool has_room() const noexcept;
  bool is_open(std::uint32_t stream) const { return streams_.contains(stream); }
  void send(wire::FrameType type, wire::Channel channel, std::uint32_t stream, ByteView payload);
  void send_credit(std::uint32_t stream, std::uint64_t bytes);
  void end_stream(std::uint32_t stream) {
    streams_.erase(stream);
    if (streams_.empty()) loop_.relax();
  }

 private:
  void read_some();
  bool read_frames();
  bool take(const wire::FrameView& frame);
  bool greet(const wire::FrameView& frame);
  bool open_stream(const wire::FrameView& frame);
  bool to_stream(const wire::FrameView& frame, StreamHandler& handler);
  bool to_asked_stream(const wire::FrameView& frame, StreamHandler& handler);
  bool to_own_stream(const wire::FrameView& frame, StreamHandler& handler);
  bool take_collected(ByteView payload);
  void refuse(std::uint32_t stream, const Error& error);
  void mark_dirty();
  void flush();
  void offer_room();
  void close();

  EventLoop& loop_;
  Owner& owner_;
  base::UniqueFd socket_;
  const wire::Greeting& greeting_;
  wire::FrameDecoder decoder_;
  Bytes out_;
  std::size_t sent_ = 0;
  bool greeted_ = false;
  bool serves_proxy_ = false;
  bool closed_ = false;
  bool dirty_ = false;
  bool watching_write_ = false;
  mutable bool starved_ = false;  ///< a stream was told that there is no room
  std::uint32_t last_served_ = 0;
  std::uint32_t last_opened_ = wire::kFirstAgentStream - 1;
  EventLoop::Timer greeting_timer_{};
  std::map<std::uint32_t, std::shared_ptr<StreamHandler>> streams_;
};

}  // namespace cove::agent

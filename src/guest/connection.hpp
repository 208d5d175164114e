/// Connection: the host's end of a socket to an agent; all of its streams. Everything here happens
/// on the loop's thread. Every byte of the agent is taken as hostile: what breaks the protocol ends
/// the connection, and with it every call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include <boost/asio/local/stream_protocol.hpp>

#include <cove/bytes.hpp>
#include <cove/clock.hpp>

#include "base/async/io_loop.hpp"
#include "base/system/unique_fd.hpp"
#include "guest/stream.hpp"
#include "wire/connect_request.hpp"
#include "wire/frame.hpp"
#include "wire/greeting.hpp"

namespace cove::guest {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(base::IoLoop& loop, const Clock& clock);

  /// Takes the socket over and begins to read. kInvalidArgument: it is no socket of this kind.
  Result<void> start(base::UniqueFd socket);

  /// The agent's greeting. kUnavailable, kIntegrity: as of connect_agent.
  Task<Result<wire::Greeting>> greeting(const CallContext& call);

  /// Told of each stream that the agent opens; it answers by `announce` and `answer`.
  using ServeStream = std::function<void(std::shared_ptr<Stream>, wire::ConnectRequest)>;

  /// Takes streams that the agent opens; without it they break the protocol. Called before greet,
  /// whose capabilities say so.
  void serve(ServeStream serve) { serve_ = std::move(serve); }
  void greet(const wire::Greeting& greeting);

  /// Opens a stream with an encoded request; the error of a lost connection is in the stream.
  /// `data_follows`: the request waits for the first piece that is sent, and goes out with it.
  std::shared_ptr<Stream> open(ByteView request, std::uint64_t window, bool data_follows = false);

  /// Queues for the stream, and sends what credit and room allow, now and later.
  void send(Stream& stream, Stream::Piece piece);

  /// Gives back the credit of what was used.
  void used(Stream& stream, std::uint64_t bytes);
  void cancel(const Stream& stream, const wire::Cancel& cancel);

  /// Lets a stream go: one that is not over is cancelled, and what still comes is dropped.
  void release(const std::shared_ptr<Stream>& stream);

  /// Of a stream that the agent opened: says that what it asked for is open.
  void announce(const Stream& stream);

  /// Ends a stream that the agent opened, well or with an error.
  void answer(Stream& stream, const Result<void>& ending);

  /// Ends the connection: calls in flight and later ones get `error`.
  void lose(const Error& error);

  /// False also where the agent has hung up and the loop has not come to read it yet.
  bool is_open() noexcept;

 private:
  void read();
  void on_read(std::size_t bytes);
  Result<void> take(const wire::FrameView& frame);
  Result<void> take_greeting(const wire::FrameView& frame);
  Result<void> take_on_stream(const wire::FrameView& frame, Stream& stream);
  Result<void> take_data(const wire::FrameView& frame, Stream& stream);
  Result<void> take_of_agent(const wire::FrameView& frame);
  Result<void> take_request(const wire::FrameView& frame);
  Result<void> take_on_asked(const wire::FrameView& frame, Stream& stream);
  Result<void> check_unsent() const;
  void forget(Stream& stream, const Error& why);
  void end(Stream& stream);
  void pump(Stream& stream);
  bool has_room() const noexcept;
  void flush();
  void flush_later();
  void wait_for_room();

  base::IoLoop& loop_;
  const Clock& clock_;
  boost::asio::local::stream_protocol::socket socket_;
  wire::FrameDecoder decoder_;
  Bytes out_;
  std::size_t sent_ = 0;
  bool waiting_for_room_ = false;
  bool flush_planned_ = false;
  std::optional<Error> lost_;
  std::shared_ptr<base::Completion<Result<wire::Greeting>>> greeting_;
  bool greeted_ = false;
  std::uint32_t next_stream_ = 1;
  ServeStream serve_;
  std::uint32_t last_asked_ = wire::kFirstAgentStream - 1;
  std::size_t asked_streams_ = 0;  ///< of `streams_`: opened by the agent
  std::map<std::uint32_t, std::shared_ptr<Stream>> streams_;
};

}  // namespace cove::guest

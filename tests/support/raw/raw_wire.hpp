/// The wire spoken by hand, over a blocking socket: for tests of what a well-behaved side never
/// does.
#pragma once

#include <cstdint>
#include <optional>

#include "base/system/unique_fd.hpp"
#include "wire/frame.hpp"
#include "wire/greeting.hpp"
#include "wire/request.hpp"

namespace cove::test {

struct RawFrame {
  wire::FrameType type;
  wire::Channel channel;
  std::uint32_t stream;
  Bytes payload;
};

class RawWire {
 public:
  explicit RawWire(base::UniqueFd socket) : socket_(std::move(socket)) {}

  void send(wire::FrameType type, std::uint32_t stream, ByteView payload,
            wire::Channel channel = wire::Channel::kMain);
  void send_bytes(ByteView bytes);

  /// The next frame; none at the end of the connection. Waits at most 20 s.
  std::optional<RawFrame> receive();

  /// Skips frames until one ends `stream`.
  std::optional<RawFrame> receive_answer(std::uint32_t stream);

  /// Reads the agent's greeting and sends one that names the same instance.
  wire::Greeting greet();

  void request(std::uint32_t stream, const wire::Request& request);
  void close() { socket_.reset(); }

 private:
  base::UniqueFd socket_;
  wire::FrameDecoder decoder_;
};

/// What an agent says first of the instance that tests speak to by hand: "d", "s", "g", epoch 1.
wire::Greeting raw_greeting();

/// Two ends of one connection.
struct SocketPair {
  base::UniqueFd first;
  base::UniqueFd second;
};
SocketPair make_socket_pair();

}  // namespace cove::test

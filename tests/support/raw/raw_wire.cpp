#include "support/raw/raw_wire.hpp"

#include <stdexcept>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cove::test {

void RawWire::send_bytes(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(*socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the other side has closed: what it said before is still read
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void RawWire::send(wire::FrameType type, std::uint32_t stream, ByteView payload,
                   wire::Channel channel) {
  Bytes bytes;
  wire::append_frame(bytes, type, channel, stream, payload);
  send_bytes(bytes);
}

std::optional<RawFrame> RawWire::receive() {
  for (;;) {
    const auto frame = decoder_.next().value();
    if (frame) {
      return RawFrame{frame->type, frame->channel, frame->stream,
                      Bytes(frame->payload.begin(), frame->payload.end())};
    }
    pollfd readable{*socket_, POLLIN, 0};
    if (::poll(&readable, 1, 20'000) != 1) throw std::runtime_error("nothing came for 20 s");
    const auto space = decoder_.space();
    const ssize_t bytes = ::read(*socket_, space.data(), space.size());
    if (bytes <= 0) return std::nullopt;
    decoder_.filled(static_cast<std::size_t>(bytes));
  }
}

std::optional<RawFrame> RawWire::receive_answer(std::uint32_t stream) {
  for (;;) {
    auto frame = receive();
    if (!frame) return frame;
    const bool answer =
        frame->type == wire::FrameType::kResponse || frame->type == wire::FrameType::kError;
    if (answer && frame->stream == stream) return frame;
  }
}

wire::Greeting RawWire::greet() {
  const auto frame = receive();
  if (!frame) throw std::runtime_error("no greeting");
  const auto greeting = wire::parse_greeting(frame->payload).value();
  send(wire::FrameType::kGreeting, 0, wire::encode_greeting(greeting));
  return greeting;
}

void RawWire::request(std::uint32_t stream, const wire::Request& request) {
  send(wire::FrameType::kRequest, stream, wire::encode_request(request).value());
}

wire::Greeting raw_greeting() {
  wire::Greeting greeting;
  greeting.deployment = "d";
  greeting.sandbox = "s";
  greeting.generation = "g";
  greeting.epoch = 1;
  return greeting;
}

SocketPair make_socket_pair() {
  int fds[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    throw std::runtime_error("socketpair");
  }
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

}  // namespace cove::test

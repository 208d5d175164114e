#include "wire/frame.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <string>

namespace cove::wire {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

std::uint64_t read_number(const std::byte* from, std::size_t bytes) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number = number << 8 | std::to_integer<unsigned>(from[i]);
  return number;
}

void write_number(std::byte* to, std::uint64_t number, std::size_t bytes) noexcept {
  for (std::size_t i = bytes; i-- > 0; number >>= 8) to[i] = static_cast<std::byte>(number & 0xFF);
}

bool is_known(std::uint8_t type) noexcept {
  return type >= static_cast<std::uint8_t>(FrameType::kGreeting) &&
         type <= static_cast<std::uint8_t>(FrameType::kCollected);
}

std::size_t limit_of(std::uint8_t type) noexcept {
  return type == static_cast<std::uint8_t>(FrameType::kData) ? kMaxDataBytes : kMaxControlBytes;
}

Error broken(const std::string& what) { return {ErrorCode::kIntegrity, "wire: " + what}; }

struct Header {
  std::uint8_t type = 0;
  std::uint8_t channel = 0;
  std::uint64_t reserved = 0;
  std::uint32_t stream = 0;
  std::size_t length = 0;
};

Header read_header(const std::byte* from) noexcept {
  return {std::to_integer<std::uint8_t>(from[0]), std::to_integer<std::uint8_t>(from[1]),
          read_number(from + 2, 2), static_cast<std::uint32_t>(read_number(from + 4, 4)),
          static_cast<std::size_t>(read_number(from + 8, 4))};
}

std::optional<Error> check(const Header& header) {
  const bool optional = header.type >= kFirstOptionalType;
  if (!optional && !is_known(header.type)) {
    return broken("unknown frame type " + std::to_string(header.type));
  }
  if (header.length > limit_of(header.type)) {
    return broken("a frame of type " + std::to_string(header.type) + " says " +
                  std::to_string(header.length) + " bytes, more than " +
                  std::to_string(limit_of(header.type)));
  }
  if (!optional && header.reserved != 0) return broken("reserved bits of a frame are set");
  if (!optional && header.channel > static_cast<std::uint8_t>(Channel::kArguments)) {
    return broken("unknown channel " + std::to_string(header.channel));
  }
  return std::nullopt;
}

}  // namespace

std::span<std::byte> FrameDecoder::space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < kReadBytes && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kReadBytes) buffer_.resize(end_ + kReadBytes);
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<FrameView>> FrameDecoder::next() {
  if (broken_) return *broken_;
  while (end_ - begin_ >= kHeaderBytes) {
    const Header header = read_header(buffer_.data() + begin_);
    broken_ = check(header);
    if (broken_) return *broken_;
    if (end_ - begin_ < kHeaderBytes + header.length) break;
    const ByteView payload(buffer_.data() + begin_ + kHeaderBytes, header.length);
    begin_ += kHeaderBytes + header.length;
    if (header.type >= kFirstOptionalType) continue;
    return std::optional(FrameView{static_cast<FrameType>(header.type),
                                   static_cast<Channel>(header.channel), header.stream, payload});
  }
  return std::optional<FrameView>();
}

void append_frame(Bytes& out, FrameType type, Channel channel, std::uint32_t stream,
                  ByteView payload) {
  assert(payload.size() <= limit_of(static_cast<std::uint8_t>(type)));
  std::array<std::byte, kHeaderBytes> header{};
  header[0] = static_cast<std::byte>(type);
  header[1] = static_cast<std::byte>(channel);
  write_number(header.data() + 4, stream, 4);
  write_number(header.data() + 8, payload.size(), 4);
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), payload.begin(), payload.end());
}

void append_credit(Bytes& out, std::uint32_t stream, std::uint64_t bytes) {
  std::byte payload[8];
  write_number(payload, bytes, sizeof payload);
  append_frame(out, FrameType::kCredit, Channel::kMain, stream, payload);
}

Result<std::uint64_t> read_credit(ByteView payload) {
  if (payload.size() != 8) return broken("a credit frame is not 8 bytes long");
  const std::uint64_t bytes = read_number(payload.data(), 8);
  if (bytes == 0) return broken("a credit of nothing");
  return bytes;
}

}  // namespace cove::wire

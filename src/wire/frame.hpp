/// Frames: what a connection between host and agent is made of. docs/wire-protocol.md is the
/// authority for the bytes.
///
///     type u8 | channel u8 | zero u16 | stream u32 | length u32 | payload      (big-endian)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

namespace cove::wire {

enum class FrameType : std::uint8_t {
  kGreeting = 1,    ///< both ways, first, stream 0
  kRequest = 2,     ///< host: opens a stream
  kResponse = 3,    ///< agent: ends a stream well
  kError = 4,       ///< agent: ends a stream badly
  kCancel = 5,      ///< host: what the stream asked for is to end early; an answer still comes
  kData = 6,        ///< bytes of a channel, within the receiver's credit
  kEnd = 7,         ///< the sender's channel is at its end
  kCredit = 8,      ///< the receiver of data allows so many more bytes (u64 payload)
  kEvent = 9,       ///< agent: news of a stream before its end
  kCollected = 10,  ///< host: the stream's answer has arrived and may be forgotten
};

/// Frames of these numbers are skipped by who does not know them.
constexpr std::uint8_t kFirstOptionalType = 128;

/// What a data frame belongs to within its stream.
enum class Channel : std::uint8_t {
  kMain = 0,  ///< stdin, the bytes of a file, the entries of a list
  kOut = 1,
  kErr = 2,
  kArguments = 3,  ///< a command's argv and environment that do not fit a control payload
};

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kMaxControlBytes = 64 * 1024;
constexpr std::size_t kMaxDataBytes = 256 * 1024;

/// A frame in a decoder's buffer: the payload lives until the decoder is fed again.
struct FrameView {
  FrameType type = FrameType::kData;
  Channel channel = Channel::kMain;
  std::uint32_t stream = 0;
  ByteView payload;
};

/// Cuts a byte stream into frames; every byte is taken as hostile. Holds at most one frame and one
/// read of bytes. After an error it gives the same error for ever.
class FrameDecoder {
 public:
  /// Room for the next read, at least 64 KiB; then say with `filled` how much came.
  std::span<std::byte> space();
  void filled(std::size_t bytes) noexcept { end_ += bytes; }

  /// The next whole frame, or none until more bytes come. kIntegrity: the bytes are no frames of
  /// this protocol, or one is over its limit.
  Result<std::optional<FrameView>> next();

  /// True where no part of a frame is held: an end of the stream here is a clean one.
  bool is_between_frames() const noexcept { return begin_ == end_; }

 private:
  Bytes buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::optional<Error> broken_;
};

/// Appends one frame to `out`. REQUIRES: the payload is within its type's limit.
void append_frame(Bytes& out, FrameType type, Channel channel, std::uint32_t stream,
                  ByteView payload);

/// Appends a credit frame.
void append_credit(Bytes& out, std::uint32_t stream, std::uint64_t bytes);

/// Reads a credit frame's payload. kIntegrity: not 8 bytes, or zero.
Result<std::uint64_t> read_credit(ByteView payload);

}  // namespace cove::wire

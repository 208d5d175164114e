#include "wire/frame.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "wire/credit.hpp"

using cove::Bytes;
using cove::ByteView;
using cove::ErrorCode;
using cove::wire::append_credit;
using cove::wire::append_frame;
using cove::wire::Channel;
using cove::wire::FrameDecoder;
using cove::wire::FrameType;
using cove::wire::kHeaderBytes;
using cove::wire::kMaxControlBytes;
using cove::wire::kMaxDataBytes;

namespace {

void feed(FrameDecoder& decoder, ByteView bytes) {
  while (!bytes.empty()) {
    const auto space = decoder.space();
    const std::size_t count = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), count, space.begin());
    decoder.filled(count);
    bytes = bytes.subspan(count);
  }
}

Bytes header(unsigned type, unsigned channel, unsigned reserved, unsigned length) {
  Bytes bytes(kHeaderBytes);
  bytes[0] = std::byte(type);
  bytes[1] = std::byte(channel);
  bytes[3] = std::byte(reserved);
  bytes[7] = std::byte{1};
  for (unsigned i = 0; i < 4; ++i) bytes[8 + i] = std::byte(length >> (24 - 8 * i) & 0xFF);
  return bytes;
}

ErrorCode refusal_of(const Bytes& bytes) {
  FrameDecoder decoder;
  feed(decoder, bytes);
  const auto frame = decoder.next();
  REQUIRE_FALSE(frame);
  CHECK(decoder.next().error().code() == frame.error().code());
  return frame.error().code();
}

}  // namespace

TEST_CASE("FrameDecoder: what was appended comes out, byte by byte too", "[unit][wire]") {
  Bytes payload(1000);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = std::byte(i & 0xFF);
  Bytes stream;
  append_frame(stream, FrameType::kData, Channel::kErr, 0xFFFFFFFF, payload);
  append_frame(stream, FrameType::kEnd, Channel::kMain, 9, {});
  FrameDecoder decoder;
  int frames = 0;
  for (const std::byte byte : stream) {
    feed(decoder, ByteView(&byte, 1));
    const auto frame = decoder.next();
    REQUIRE(frame);
    if (!*frame) continue;
    ++frames;
    if (frames == 1) {
      CHECK((*frame)->stream == 0xFFFFFFFF);
      CHECK((*frame)->channel == Channel::kErr);
      CHECK(std::equal(payload.begin(), payload.end(), (*frame)->payload.begin(),
                       (*frame)->payload.end()));
    }
  }
  CHECK(frames == 2);
  CHECK(decoder.is_between_frames());
}

TEST_CASE("FrameDecoder: the largest frames pass and one byte more is refused", "[unit][wire]") {
  FrameDecoder decoder;
  Bytes stream;
  append_frame(stream, FrameType::kData, Channel::kMain, 1, Bytes(kMaxDataBytes));
  append_frame(stream, FrameType::kRequest, Channel::kMain, 1, Bytes(kMaxControlBytes));
  feed(decoder, stream);
  CHECK((*decoder.next().value()).payload.size() == kMaxDataBytes);
  CHECK((*decoder.next().value()).payload.size() == kMaxControlBytes);
  // Refused by the header alone: nothing waits for, or holds, what it announces.
  CHECK(refusal_of(header(6, 0, 0, kMaxDataBytes + 1)) == ErrorCode::kIntegrity);
  CHECK(refusal_of(header(2, 0, 0, kMaxControlBytes + 1)) == ErrorCode::kIntegrity);
  CHECK(refusal_of(header(200, 0, 0, kMaxControlBytes + 1)) == ErrorCode::kIntegrity);
}

TEST_CASE("FrameDecoder: unknown types, channels and reserved bits are refused", "[unit][wire]") {
  CHECK(refusal_of(header(0, 0, 0, 0)) == ErrorCode::kIntegrity);
  CHECK(refusal_of(header(11, 0, 0, 0)) == ErrorCode::kIntegrity);
  CHECK(refusal_of(header(6, 4, 0, 0)) == ErrorCode::kIntegrity);
  CHECK(refusal_of(header(6, 0, 1, 0)) == ErrorCode::kIntegrity);
}

TEST_CASE("FrameDecoder: optional types of a newer side are passed over", "[unit][wire]") {
  FrameDecoder decoder;
  Bytes stream = header(128, 77, 1, 3);
  stream.resize(stream.size() + 3);
  append_frame(stream, FrameType::kEnd, Channel::kMain, 5, {});
  feed(decoder, stream);
  CHECK((*decoder.next().value()).stream == 5);
}

TEST_CASE("FrameDecoder: random bytes never do more than fail", "[unit][wire]") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes(random() % 200);
    for (auto& byte : bytes) byte = std::byte(random() & 0xFF);
    if (!bytes.empty()) bytes[0] = std::byte(1 + random() % 10);
    FrameDecoder decoder;
    feed(decoder, bytes);
    for (int i = 0; i < 20; ++i) {
      const auto frame = decoder.next();
      if (!frame || !*frame) break;
    }
  }
  SUCCEED();
}

TEST_CASE("Credit: eight bytes and not zero", "[unit][wire]") {
  Bytes stream;
  append_credit(stream, 3, 0x0102030405060708);
  FrameDecoder decoder;
  feed(decoder, stream);
  const auto frame = *decoder.next().value();
  CHECK(cove::wire::read_credit(frame.payload).value() == 0x0102030405060708);
  CHECK_FALSE(cove::wire::read_credit(frame.payload.first(7)));
  CHECK_FALSE(cove::wire::read_credit(Bytes(8)));
}

TEST_CASE("SendWindow: what a hostile side grants saturates", "[unit][wire]") {
  cove::wire::SendWindow window(10);
  window.grant(~0ULL);
  window.grant(~0ULL);
  CHECK(window.available() == 1ULL << 40);
  window.spend(1);
  CHECK(window.available() == (1ULL << 40) - 1);
}

TEST_CASE("ReceiveWindow: past its credit is told, and credit comes back in batches",
          "[unit][wire]") {
  cove::wire::ReceiveWindow window(100);
  CHECK(window.receive(100));
  CHECK_FALSE(window.receive(1));
  CHECK(window.consume(24) == 0);
  CHECK(window.consume(1) == 25);
  CHECK(window.receive(25));
  CHECK_FALSE(window.receive(1));
  CHECK(window.widen(100) == 0);
  CHECK(window.widen(140) == 40);
  CHECK(window.receive(40));
  CHECK_FALSE(window.receive(1));
  CHECK(window.consume(34) == 0);
  CHECK(window.consume(1) == 35);
}

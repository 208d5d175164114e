/// Texts and bytes in memory, as streams.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <cove/bytes.hpp>

namespace cove::base {

/// Gives borrowed bytes in pieces; they outlive it.
class ViewSource final : public ByteSource {
 public:
  explicit ViewSource(ByteView bytes) : rest_(bytes) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    constexpr std::size_t kPiece = 256 * 1024;
    const ByteView piece = rest_.first(std::min(kPiece, rest_.size()));
    rest_ = rest_.subspan(piece.size());
    co_return Bytes(piece.begin(), piece.end());
  }

 private:
  ByteView rest_;
};

/// Gives a text that it owns.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text)
      : text_(std::move(text)), source_(std::as_bytes(std::span(text_))) {}

  Task<Result<Bytes>> next(const CallContext& call) override { return source_.next(call); }

 private:
  const std::string text_;
  ViewSource source_;
};

}  // namespace cove::base

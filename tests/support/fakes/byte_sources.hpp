/// Sources of bytes for tests, and what reads them whole.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <cove/bytes.hpp>

namespace cove::test {

/// Gives a text in pieces of `piece` bytes; then, where there is one, fails with `error`.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, std::size_t piece = 64 * 1024,
                      std::optional<Error> error = std::nullopt)
      : text_(std::move(text)), piece_(piece), error_(std::move(error)) {}

  Task<Result<Bytes>> next(const CallContext&) override {
    const std::size_t size = std::min(piece_, text_.size() - at_);
    if (size == 0 && error_) co_return *error_;
    Bytes bytes(size);
    if (size > 0) std::memcpy(bytes.data(), text_.data() + at_, size);
    at_ += size;
    co_return bytes;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::optional<Error> error_;
  std::size_t at_ = 0;
};

inline Task<Result<std::string>> read_all(ByteSource& source, const CallContext& call) {
  std::string text;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source.next(call));
    if (piece.empty()) co_return text;
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
}

}  // namespace cove::test

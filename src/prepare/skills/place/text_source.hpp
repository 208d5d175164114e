/// A text as a ByteSource, given in one piece.
#pragma once

#include <string>
#include <utility>

#include <cove/bytes.hpp>

namespace cove::prepare {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    rest_.assign(bytes.begin(), bytes.end());
  }

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    co_return std::exchange(rest_, {});
  }

 private:
  Bytes rest_;
};

}  // namespace cove::prepare

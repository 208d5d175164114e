/// SHA-256, by OpenSSL.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cove::base {

/// Hashes what comes piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }

  /// The 64 hex digits of everything so far; ends the use of this object.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// The 64 hex digits of one text.
std::string sha256_hex(std::string_view text);

}  // namespace cove::base

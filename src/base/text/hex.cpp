#include "base/text/hex.hpp"

#include <algorithm>

namespace cove::base {

void append_hex(std::string& out, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += kDigits[value >> 4U];
  out += kDigits[value & 0xFU];
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) append_hex(text, static_cast<char>(byte));
  return text;
}

bool is_hex(std::string_view text, std::size_t digits) noexcept {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace cove::base

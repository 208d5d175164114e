#include "base/text/name_text.hpp"

#include <algorithm>
#include <cstddef>

#include "base/text/hex.hpp"
#include "base/text/utf8.hpp"

namespace cove::base {
namespace {

constexpr std::size_t kEscape = 4;  // "\xNN"

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool begins_with_escape(std::string_view text) noexcept {
  return text.size() >= kEscape && text[0] == '\\' && text[1] == 'x' && digit_of(text[2]) >= 0 &&
         digit_of(text[3]) >= 0;
}

/// Bytes of the character at the front; 0 = the first byte belongs to none.
std::size_t character_length(std::string_view text) noexcept {
  if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
  for (std::size_t length = 2; length <= std::min<std::size_t>(4, text.size()); ++length) {
    if (is_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

void append_escape(std::string& out, char byte) {
  out += "\\x";
  append_hex(out, byte);
}

}  // namespace

std::string name_text(std::string_view bytes) {
  if (bytes.find("\\x") == std::string_view::npos && is_utf8(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = begins_with_escape(bytes) ? 0 : character_length(bytes);
    if (length == 0) append_escape(text, bytes.front());
    text += bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string name_bytes(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (begins_with_escape(text)) {
      bytes += static_cast<char>(digit_of(text[2]) * 16 + digit_of(text[3]));
      text.remove_prefix(kEscape);
      continue;
    }
    bytes += text.front();
    text.remove_prefix(1);
  }
  return bytes;
}

}  // namespace cove::base

/// Bytes that came from elsewhere (file names, messages), written so that they can neither break a
/// line nor steer a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text/hex.hpp"
#include "base/text/utf8.hpp"

namespace cove::base {

namespace detail {

/// True for UTF-8 characters that change how others are shown: C1 controls, line and paragraph
/// separators, and marks that turn the direction of writing.
inline bool is_steering(std::string_view character) noexcept {
  if (character.size() == 2) {
    return (character[0] == '\xC2' && character[1] <= '\x9F') || character == "\xD8\x9C";
  }
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character[1] == '\x80') return (last >= 0xA8 && last <= 0xAE) || last == 0x8E || last == 0x8F;
  return character[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
}

/// Bytes of the character at the front that may be shown as it is; 0 = escape its first byte.
inline std::size_t shown_length(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7F && first != '\\' ? 1 : 0;
  for (std::size_t length = 2; length <= 4 && length <= text.size(); ++length) {
    const std::string_view character = text.substr(0, length);
    if (is_utf8(character)) return is_steering(character) ? 0 : length;
  }
  return 0;
}

inline void append_escape(std::string& out, char byte) {
  switch (byte) {
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  out += "\\x";
  append_hex(out, byte);
}

}  // namespace detail

/// `bytes` with every control character, every byte that is no UTF-8 and every backslash written
/// as an escape: `a\nb`, `\xff`.
inline std::string escaped(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = detail::shown_length(bytes);
    if (length == 0) detail::append_escape(out, bytes.front());
    out += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

/// For a sentence that may have escapes in it already: as `escaped`, but a backslash stays.
inline std::string harmless(std::string_view sentence) {
  std::string out;
  while (!sentence.empty()) {
    const std::size_t plain = std::min(sentence.find('\\'), sentence.size());
    out += escaped(sentence.substr(0, plain));
    if (plain < sentence.size()) out += '\\';
    sentence.remove_prefix(std::min(plain + 1, sentence.size()));
  }
  return out;
}

/// For a sentence: escaped, in single quotes, and with the middle of a very long text left out.
inline std::string quoted(std::string_view bytes) {
  constexpr std::size_t kEnd = 120;
  if (bytes.size() <= 2 * kEnd + 3) return "'" + escaped(bytes) + "'";
  const std::size_t tail = cut_after(bytes, bytes.size() - kEnd);
  return "'" + escaped(bytes.substr(0, cut_before(bytes, kEnd))) + "..." +
         escaped(bytes.substr(tail)) + "'";
}

}  // namespace cove::base

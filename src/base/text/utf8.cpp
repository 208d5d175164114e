#include "base/text/utf8.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text/hex.hpp"

namespace cove::base {
namespace {

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Bytes of the sequence that `lead` announces; 0 where it can begin none.
std::size_t announced(unsigned char lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// The second byte's range is narrower after some leads: overlong forms, surrogates, past U+10FFFF.
bool is_second(unsigned char lead, unsigned char second) noexcept {
  switch (lead) {
    case 0xE0: return second >= 0xA0 && second <= 0xBF;
    case 0xED: return second >= 0x80 && second <= 0x9F;
    case 0xF0: return second >= 0x90 && second <= 0xBF;
    case 0xF4: return second >= 0x80 && second <= 0x8F;
    default: return second >= 0x80 && second <= 0xBF;
  }
}

/// Length of the well-formed character at the front; 0 where there is none.
std::size_t character(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = announced(lead);
  if (length <= 1) return length;
  if (text.size() < length || !is_second(lead, static_cast<unsigned char>(text[1]))) return 0;
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                     is_continuation)
             ? length
             : 0;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string marked_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  while (!bytes.empty()) {
    const std::size_t length = character(bytes);
    out += bytes.substr(0, length);
    if (length == 0) {
      out += "\\x";
      append_hex(out, bytes.front());
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::size_t cut_before(std::string_view text, std::size_t limit) noexcept {
  if (limit >= text.size()) return text.size();
  // Look back for a lead byte whose character would cross the cut.
  for (std::size_t back = 1; back <= 3 && back <= limit; ++back) {
    const std::size_t at = limit - back;
    if (is_continuation(text[at])) continue;
    return character(text.substr(at)) > back ? at : limit;
  }
  return limit;
}

std::size_t cut_after(std::string_view text, std::size_t from) noexcept {
  if (from >= text.size()) return text.size();
  for (std::size_t back = 1; back <= 3 && back <= from; ++back) {
    const std::size_t at = from - back;
    if (is_continuation(text[at])) continue;
    const std::size_t length = character(text.substr(at));
    return length > back ? at + length : from;
  }
  return from;
}

}  // namespace cove::base

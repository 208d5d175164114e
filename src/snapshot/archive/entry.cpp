#include "snapshot/archive/entry.hpp"

#include "base/text/utf8.hpp"

namespace cove::snapshot {

std::string shown(std::string_view path) {
  constexpr std::size_t kLongest = 200;
  if (path.empty()) return "'.'";
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string_view head = path.substr(0, base::cut_before(path, kLongest));
  const bool readable = base::is_utf8(head);
  std::string text = "'";
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F && (byte < 0x80 || readable)) {
      text += c;
      continue;
    }
    text += "\\x";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  text += head.size() < path.size() ? "...'" : "'";
  return text;
}

}  // namespace cove::snapshot

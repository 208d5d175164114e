/// Names of files as a model sees them: what is shown can be given back as a path.
#pragma once

#include <string>
#include <string_view>

#include "base/text/hex.hpp"
#include "base/text/name_text.hpp"
#include "base/text/utf8.hpp"

namespace cove::tools {

/// As name_text, and control characters as `\xNN` too, so that a name is one line.
inline std::string shown_name(std::string_view bytes) {
  std::string shown;
  for (const char c : base::name_text(bytes)) {
    const auto value = static_cast<unsigned char>(c);
    if (value >= 0x20 && value != 0x7F) {
      shown += c;
      continue;
    }
    shown += "\\x";
    base::append_hex(shown, c);
  }
  return shown;
}

/// What follows the last slash, trailing slashes aside.
inline std::string_view last_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

/// A path as one word of a shell's line; one that begins with a dash is no option.
inline std::string shell_word(std::string_view path) {
  const std::string bytes = (path.starts_with('-') ? "./" : "") + std::string(path);
  const std::string shown = shown_name(bytes);
  if (shown != bytes) {
    // bash's $'...', where \xNN is a byte; shown_name has no other escape.
    std::string word = "$'";
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const bool is_plain_backslash =
          shown[i] == '\\' && base::name_bytes(std::string_view(shown).substr(i, 4)).size() != 1;
      if (shown[i] == '\'' || is_plain_backslash) word += '\\';
      word += shown[i];
    }
    return word + "'";
  }
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%";
  if (!bytes.empty() && bytes.find_first_not_of(kSafe) == std::string::npos) return bytes;
  std::string word = "'";
  for (const char c : bytes) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace cove::tools

/// Small pieces that lines and JSON objects are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "base/text/hex.hpp"
#include "base/text/utf8.hpp"

namespace cove::cli {

/// `text` with spaces up to `width`; at least one behind it.
inline std::string padded(std::string_view text, std::size_t width) {
  std::string result(text);
  result.append(result.size() < width ? width - result.size() : 1, ' ');
  return result;
}

/// Sets `key` to bytes that may be no UTF-8: then they stand whole in `key_hex`, and `key` has
/// U+FFFD in their place.
inline void set_bytes(nlohmann::json& object, const std::string& key, const std::string& bytes) {
  object[key] = bytes;
  if (!base::is_utf8(bytes)) {
    object[key + "_hex"] = base::to_hex(std::as_bytes(std::span(bytes.data(), bytes.size())));
  }
}

}  // namespace cove::cli

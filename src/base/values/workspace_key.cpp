#include <algorithm>
#include <array>

#include <cove/workspace_key.hpp>

#include "base/sha256.hpp"
#include "base/text/hex.hpp"
#include "base/text/utf8.hpp"

namespace cove {
namespace {

// ASCII only and without the locale, which belongs to the host.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Result<void> check_part(std::string_view name, const std::string& part) {
  if (part.empty() || part.size() > 512) {
    return Error(ErrorCode::kInvalidArgument, std::string(name) + " has " +
                                                  std::to_string(part.size()) +
                                                  " bytes; it must have 1 to 512");
  }
  if (!base::is_utf8(part)) {
    return Error(ErrorCode::kInvalidArgument, std::string(name) + " is not valid UTF-8");
  }
  return {};
}

void add_part(base::Sha256& hash, const std::string& part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  const std::array<std::byte, 4> length{std::byte(size >> 24), std::byte(size >> 16 & 0xFF),
                                        std::byte(size >> 8 & 0xFF), std::byte(size & 0xFF)};
  hash.update(length);
  hash.update(part);
}

std::string uri_component(std::string_view text) {
  constexpr std::string_view kPlain = "-_.!~*'()";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

bool is_hashed_segment(std::string_view text) {
  constexpr std::string_view kPrefix = "chat-";
  return text.starts_with(kPrefix) && base::is_hex(text.substr(kPrefix.size()), 40);
}

}  // namespace

Result<void> validate(const WorkspaceKey& key) {
  const std::string& type = key.source_type;
  const bool well_formed =
      !type.empty() && type.size() <= 24 && is_letter(type.front()) &&
      std::all_of(type.begin(), type.end(), [](char c) { return is_letter(c) || is_digit(c); });
  if (!well_formed) {
    return Error(ErrorCode::kInvalidArgument,
                 "source_type must be a letter and up to 23 letters or digits (ASCII)");
  }
  COVE_TRY_VOID(check_part("source_id", key.source_id));
  return check_part("user_id", key.user_id);
}

SandboxId sandbox_id_of(const WorkspaceKey& key) {
  base::Sha256 hash;
  add_part(hash, key.source_type);
  add_part(hash, key.source_id);
  add_part(hash, key.user_id);
  std::string id = key.source_type;
  std::transform(id.begin(), id.end(), id.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return SandboxId(id + "-" + hash.hex().substr(0, 32));
}

Result<std::string> session_segment(std::string_view chat_id) {
  if (chat_id.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "the chat id is empty; leave it out to work in /workspace itself");
  }
  std::string encoded = uri_component(chat_id);
  const bool usable =
      encoded.size() <= 200 && encoded != "." && encoded != ".." && !is_hashed_segment(encoded);
  if (usable) return encoded;
  return "chat-" + base::sha256_hex(chat_id).substr(0, 40);
}

}  // namespace cove

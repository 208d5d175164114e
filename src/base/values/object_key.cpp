#include <algorithm>
#include <string_view>

#include <cove/object_store.hpp>

namespace cove {
namespace {

constexpr std::size_t kMaxKey = 1024;
constexpr std::size_t kMaxSegment = 200;

// ASCII only and without the locale, which belongs to the host.
bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_segment(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSegment && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), is_key_character);
}

bool is_key(std::string_view text) {
  if (text.size() > kMaxKey) return false;
  for (;;) {
    const std::size_t slash = text.find('/');
    if (!is_segment(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

}  // namespace

Result<void> validate(const ObjectKey& key) {
  if (is_key(key.str())) return {};
  return Error(ErrorCode::kInvalidArgument,
               "an object key must be segments of 1 to 200 of [A-Za-z0-9._-], not . or .., "
               "with / between them, at most 1024 bytes")
      .with_context("key", key.str().substr(0, kMaxKey));
}

}  // namespace cove

#include "base/text/json.hpp"

#include <nlohmann/json.hpp>

namespace cove::base {
namespace {

constexpr int kMaxDepth = 64;

/// Counts brackets outside strings, so that a hostile text never reaches the recursive parts of the
/// library (its destructor and dump recurse by depth).
bool is_deeper_than(std::string_view text, int limit) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > limit) return true;
  }
  return false;
}

/// Without the "[json.exception.parse_error.101] " before it.
std::string words_of(std::string_view what) {
  const std::size_t end = what.starts_with('[') ? what.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

std::string dump(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text) {
  if (is_deeper_than(text, kMaxDepth)) {
    return Error(ErrorCode::kInvalidArgument, "nested deeper than " + std::to_string(kMaxDepth) +
                                                  " levels, more than any document of Cove's");
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    return Error(ErrorCode::kInvalidArgument, "not valid JSON: " + words_of(e.what()));
  }
}

std::string dump_json(const nlohmann::json& value) { return dump(value, -1); }

std::string dump_json_pretty(const nlohmann::json& value) { return dump(value, 2); }

}  // namespace cove::base

#include "json.hpp"

#include <cstdio>

#include "values.hpp"

namespace cove_node {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append_escaped(std::string& out, char byte) {
  const auto code = static_cast<unsigned char>(byte);
  if (byte == '"' || byte == '\\') {
    out += '\\';
    out += byte;
  } else if (code >= 0x20U) {
    out += byte;
  } else {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
    out += escaped;
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 1) {
      append_escaped(out, text[at]);
    } else {
      out += length == 0 ? kReplacement : text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  out += '"';
}

std::string base64_of(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    const unsigned group = (byte(0) << 16U) | (byte(1) << 8U) | byte(2);
    out += kDigits[(group >> 18U) & 63U];
    out += kDigits[(group >> 12U) & 63U];
    out += at + 1 < bytes.size() ? kDigits[(group >> 6U) & 63U] : '=';
    out += at + 2 < bytes.size() ? kDigits[group & 63U] : '=';
  }
  return out;
}

}  // namespace

void Json::name(const char* name) {
  text_ += text_.empty() ? '{' : ',';
  text_ += '"';
  text_ += name;
  text_ += "\":";
}

Json& Json::text(const char* member, std::string_view value) {
  name(member);
  append_quoted(text_, value);
  return *this;
}

Json& Json::number(const char* member, std::uint64_t value) {
  return raw(member, std::to_string(value));
}

Json& Json::truth(const char* member, bool value) { return raw(member, value ? "true" : "false"); }

Json& Json::raw(const char* member, std::string_view json) {
  name(member);
  text_ += json;
  return *this;
}

Json& Json::path(const char* member, std::string_view value) {
  text(member, value);
  if (is_utf8(value)) return *this;
  return text((std::string(member) + "Bytes").c_str(), base64_of(value));
}

std::string Json::done() {
  if (text_.empty()) text_ = "{";
  text_ += '}';
  return std::move(text_);
}

std::string milliseconds_json(std::int64_t nanoseconds) {
  constexpr std::int64_t kNsPerMs = 1'000'000;
  const std::int64_t whole = nanoseconds / kNsPerMs;
  const std::int64_t rest = nanoseconds % kNsPerMs;
  char text[48];
  std::snprintf(text, sizeof text, "%s%lld.%06lld", nanoseconds < 0 && whole == 0 ? "-" : "",
                static_cast<long long>(whole), static_cast<long long>(rest < 0 ? -rest : rest));
  return text;
}

}  // namespace cove_node

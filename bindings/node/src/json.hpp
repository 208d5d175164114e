/// JSON in the making: what comes in great numbers is made on threads of Cove, and is cheaper for
/// JavaScript to read as one text than to be given member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cove_node {

/// One object. Bytes that are no UTF-8 become U+FFFD.
class Json {
 public:
  Json& text(const char* name, std::string_view value);
  Json& number(const char* name, std::uint64_t value);
  Json& truth(const char* name, bool value);

  /// A value that is JSON already.
  Json& raw(const char* name, std::string_view json);

  /// `name` as text; where the bytes are no UTF-8 also `name`Bytes, in base64.
  Json& path(const char* name, std::string_view value);

  /// The object; the last call.
  std::string done();

 private:
  void name(const char* name);

  std::string text_;
};

/// "whole.fraction" of nanoseconds as milliseconds, exact.
std::string milliseconds_json(std::int64_t nanoseconds);

}  // namespace cove_node

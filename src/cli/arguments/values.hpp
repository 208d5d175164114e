/// Values of options that are more than a text.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "base/text/display_text.hpp"
#include "cli/arguments/request.hpp"

namespace cove::cli {

/// kInvalidArgument: `what`, and where help is.
Error usage_error(const std::string& what, const std::string& command);

/// A number without a sign, in decimal digits and nothing else. kInvalidArgument names `option`.
template <class Number>
Result<Number> parse_number(const std::string& option, const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure == std::errc() && stop == end) return number;
  const bool is_large = failure == std::errc::result_out_of_range && text.front() != '-';
  return Error(ErrorCode::kInvalidArgument,
               option +
                   (is_large ? " is too large: " : " wants a whole number of 0 or more, not ") +
                   base::quoted(text));
}

/// Each reads the option's text, where it was given, into the request. kInvalidArgument says what
/// would be right.
Result<void> take_env(const std::vector<std::string>& pairs, const std::string& command,
                      Request& request);
Result<void> take_mode(const std::optional<std::string>& text, Request& request);
Result<void> take_type(const std::optional<std::string>& text, FindQuery& query);
Result<void> take_format(const std::optional<std::string>& text, Request& request);
Result<void> take_mirrors(const std::vector<std::string>& pairs, Mirrors& mirrors);

}  // namespace cove::cli

#include "agent/search/pattern/pattern_error.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

/// The parentheses of an expression that have no partner.
struct Lonely {
  std::size_t open = std::string::npos;
  std::size_t close = std::string::npos;
};

Lonely lonely_parentheses(std::string_view text) {
  Lonely lonely;
  std::vector<std::size_t> open;
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (in_class) {
      in_class = text[i] != ']';
    } else if (text[i] == '[') {
      in_class = true;
      if (i + 1 < text.size() && text[i + 1] == '^') ++i;
      if (i + 1 < text.size() && text[i + 1] == ']') ++i;
    } else if (text[i] == '(') {
      open.push_back(i);
    } else if (text[i] == ')' && open.empty()) {
      lonely.close = i;
      break;
    } else if (text[i] == ')') {
      open.pop_back();
    }
  }
  if (!open.empty()) lonely.open = open.back();
  return lonely;
}

std::size_t place_of(const re2::RE2& refused, const std::string& expression) {
  switch (refused.error_code()) {
    case re2::RE2::ErrorMissingParen:
    case re2::RE2::ErrorUnexpectedParen: {
      const Lonely lonely = lonely_parentheses(expression);
      return lonely.open != std::string::npos ? lonely.open : lonely.close;
    }
    case re2::RE2::ErrorTrailingBackslash: return expression.size() - 1;
    default: return expression.find(refused.error_arg());
  }
}

std::string words_for(const re2::RE2& refused) {
  switch (refused.error_code()) {
    case re2::RE2::ErrorMissingParen: return "a parenthesis without its partner";
    case re2::RE2::ErrorUnexpectedParen: return "a parenthesis without its partner";
    case re2::RE2::ErrorMissingBracket: return "the class has no end";
    case re2::RE2::ErrorTrailingBackslash: return "nothing follows the backslash";
    case re2::RE2::ErrorBadEscape: return "no such escape";
    case re2::RE2::ErrorBadCharClass: return "no such class";
    case re2::RE2::ErrorBadCharRange: return "no such range";
    case re2::RE2::ErrorRepeatArgument: return "nothing to repeat";
    case re2::RE2::ErrorRepeatSize: return "more than 1000 repetitions";
    case re2::RE2::ErrorRepeatOp: return "two repetitions in a row";
    case re2::RE2::ErrorBadPerlOp:
      return "no such group; look-around and back-references do not exist here";
    case re2::RE2::ErrorBadNamedCapture: return "a wrong group name";
    case re2::RE2::ErrorBadUTF8: return "no UTF-8";
    default: return base::harmless(refused.error());
  }
}

}  // namespace

Error pattern_error(const re2::RE2& refused, const std::string& expression) {
  if (refused.error_code() == re2::RE2::ErrorPatternTooLarge) {
    return {ErrorCode::kTooLarge, "the pattern " + base::quoted(expression) +
                                      " needs too much memory; use fewer or smaller repetitions"};
  }
  const std::size_t place = place_of(refused, expression);
  const std::string where = place == std::string::npos ? "" : " at byte " + std::to_string(place);
  const std::string what =
      refused.error_arg().empty() ? "" : " (" + base::quoted(refused.error_arg()) + ")";
  return {ErrorCode::kInvalidArgument, "the pattern " + base::quoted(expression) + " is wrong" +
                                           where + ": " + words_for(refused) + what};
}

}  // namespace cove::agent

/// What every match of a regular expression must have in it, as far as a look at its text tells.
#pragma once

#include <string_view>
#include <vector>

#include "agent/search/pattern/byte_class.hpp"

namespace cove::agent {

struct RequiredBytes {
  /// Runs of which every match has at least one, whole; empty = nothing is known.
  std::vector<ByteRun> any_of;

  /// Every match is just that: one run, of single bytes or of letters in either case.
  bool is_whole = false;

  /// Whether a whole block of lines may be given to the expression at once: false where it says
  /// something about the text's beginning or end that a line's is not.
  bool by_block = false;

  /// It says something about a line's end, so a `\r` there matters.
  bool line_end = false;
};

struct PatternSyntax {
  bool ignore_case = false;
  bool utf8 = true;  ///< else each byte is a character
};

/// REQUIRES: RE2 takes `pattern` for correct. Whatever is not understood makes the answer say less,
/// never something wrong.
RequiredBytes required_bytes(std::string_view pattern, const PatternSyntax& syntax);

/// The same of plain bytes; letters are ASCII's.
RequiredBytes required_of_literal(std::string_view literal, bool ignore_case);

}  // namespace cove::agent

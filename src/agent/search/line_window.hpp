/// Which part of a long line is given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <cove/search.hpp>

#include "agent/search/pattern/pattern.hpp"
#include "base/text/utf8.hpp"

namespace cove::agent {

struct LineWindow {
  std::size_t begin = 0;
  std::size_t end = 0;

  /// What of a match lies in the window, counted from its beginning.
  std::optional<TextSpan> clip(const MatchSpan& match) const {
    const std::size_t from = std::max(match.begin, begin);
    const std::size_t to = std::min(match.end, end);
    if (from > to) return std::nullopt;
    return TextSpan{static_cast<std::uint32_t>(from - begin),
                    static_cast<std::uint32_t>(to - from)};
  }
};

/// At most `most` bytes of `line`, no UTF-8 character cut, `match` in view: a quarter of the window
/// comes before one that begins too late for the line's own beginning.
inline LineWindow window_of(std::string_view line, const MatchSpan& match, std::size_t most) {
  if (line.size() <= most) return {0, line.size()};
  LineWindow window;
  if (match.end > most) {
    const std::size_t wanted = std::max(match.begin, most / 4) - most / 4;
    // Only the few bytes around the place matter for where a character begins.
    const std::size_t near = wanted - std::min<std::size_t>(wanted, 4);
    window.begin =
        std::min(near + base::cut_after(line.substr(near, 12), wanted - near), match.begin);
  }
  const std::string_view rest = line.substr(window.begin);
  window.end = window.begin + base::cut_before(rest, most);
  return window;
}

/// Where the character behind the one at `at` begins.
inline std::size_t next_character(std::string_view line, std::size_t at) {
  if (at >= line.size()) return line.size() + 1;
  return at + std::max<std::size_t>(1, base::cut_after(line.substr(at, 8), 1));
}

}  // namespace cove::agent

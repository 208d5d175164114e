/// A configuration file as lines that can be changed one by one, while all others stay as they are:
/// their line ends, a byte order mark, a missing last line end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cove::prepare {

struct Line {
  std::string text;  ///< without its end
  std::string end;   ///< "\n", "\r\n", or empty (the last one)
};

class Lines {
 public:
  explicit Lines(std::string_view text);

  std::string text() const;

  std::vector<Line>& all() noexcept { return lines_; }
  const std::vector<Line>& all() const noexcept { return lines_; }
  const std::string& at(std::size_t index) const { return lines_[index].text; }
  std::size_t size() const noexcept { return lines_.size(); }

  /// Replaces the lines [begin, end) by those of `text` (lines separated by LF, no LF at its end).
  /// New lines end as the first line of the file does.
  void replace(std::size_t begin, std::size_t end, std::string_view text);
  void erase(std::size_t begin, std::size_t end);

  /// The lines [begin, end) as `replace` takes them.
  std::string part(std::size_t begin, std::size_t end) const;

 private:
  std::string mark_;  // a byte order mark
  std::string end_;   // of new lines
  std::vector<Line> lines_;
};

/// Without spaces, tabs and CR around it.
std::string_view trimmed(std::string_view text);

/// Trimmed, and without a pair of quotes around it.
std::string unquoted(std::string_view text);

bool is_blank(std::string_view text);

}  // namespace cove::prepare

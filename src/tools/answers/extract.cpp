#include "tools/answers/extract.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"

namespace cove::tools {

std::uint64_t count_lines(std::string_view text) noexcept {
  const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

std::string_view head_of(std::string_view text) noexcept {
  std::size_t length = 0;
  for (std::size_t lines = 0; lines < kMostLines && length < text.size(); ++lines) {
    const std::size_t end = std::min(text.find('\n', length), text.size() - 1) + 1;
    if (end > kMostBytes) break;
    length = end;
  }
  if (length == 0) length = base::cut_before(text, kMostBytes);
  return text.substr(0, length);
}

std::string_view tail_of(std::string_view text) noexcept {
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < kMostLines && begin > 0; ++lines) {
    // The LF before the last line's own end, if it has one.
    const std::size_t before = begin >= 2 ? text.rfind('\n', begin - 2) : std::string_view::npos;
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    if (text.size() - start > kMostBytes) break;
    begin = start;
  }
  if (begin == text.size() && text.size() > kMostBytes) {
    begin = base::cut_after(text, text.size() - kMostBytes);
  }
  return text.substr(begin);
}

bool BoundedLines::add(std::string_view line) {
  full_ = full_ || count_ == kMostLines || text_.size() + line.size() + 1 > kMostBytes;
  if (full_) return false;
  text_ += line;
  text_ += '\n';
  ++count_;
  return true;
}

}  // namespace cove::tools

#include "prepare/mirrors/formats/lines.hpp"

#include <algorithm>

namespace cove::prepare {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Lines::Lines(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    mark_ = kByteOrderMark;
    text.remove_prefix(kByteOrderMark.size());
  }
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    Line line;
    if (end == std::string_view::npos) {
      line.text = text;
      text = {};
    } else {
      const bool returns = end > 0 && text[end - 1] == '\r';
      line.text = text.substr(0, returns ? end - 1 : end);
      line.end = returns ? "\r\n" : "\n";
      text.remove_prefix(end + 1);
    }
    lines_.push_back(std::move(line));
  }
  end_ = lines_.empty() || lines_.front().end.empty() ? "\n" : lines_.front().end;
}

std::string Lines::text() const {
  std::string text = mark_;
  for (const Line& line : lines_) text += line.text + line.end;
  return text;
}

void Lines::replace(std::size_t begin, std::size_t end, std::string_view text) {
  erase(begin, end);
  // What was the last line may have had no end.
  if (begin > 0 && lines_[begin - 1].end.empty()) lines_[begin - 1].end = end_;
  std::vector<Line> added;
  for (;;) {
    const std::size_t cut = std::min(text.find('\n'), text.size());
    added.push_back({std::string(text.substr(0, cut)), end_});
    if (cut == text.size()) break;
    text.remove_prefix(cut + 1);
  }
  lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(begin), added.begin(), added.end());
}

void Lines::erase(std::size_t begin, std::size_t end) {
  lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(begin),
               lines_.begin() + static_cast<std::ptrdiff_t>(end));
}

std::string Lines::part(std::size_t begin, std::size_t end) const {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (i > begin ? "\n" : "") + lines_[i].text;
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

}  // namespace cove::prepare

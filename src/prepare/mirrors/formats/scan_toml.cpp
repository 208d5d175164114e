#include <algorithm>
#include <optional>

#include "prepare/mirrors/formats/scan.hpp"

namespace cove::prepare {
namespace {

/// Reads a key, dotted or not, from the front of `text`: its parts without quotes, joined by dots.
std::optional<std::string> take_key(std::string_view& text) {
  std::string key;
  for (;;) {
    text = trimmed(text);
    if (text.empty()) return std::nullopt;
    if (text.front() == '"' || text.front() == '\'') {
      const std::size_t close = text.find(text.front(), 1);
      if (close == std::string_view::npos) return std::nullopt;
      key += text.substr(1, close - 1);
      text.remove_prefix(close + 1);
    } else {
      const std::size_t end = std::min(text.find_first_of(" \t.=]\"'#"), text.size());
      if (end == 0) return std::nullopt;
      key += text.substr(0, end);
      text.remove_prefix(end);
    }
    text = trimmed(text);
    if (!text.starts_with('.')) return key;
    key += '.';
    text.remove_prefix(1);
  }
}

/// Follows a value over the lines that it takes.
class ValueReader {
 public:
  /// Takes the next line of the value; true once it is at its end.
  bool take(std::string_view line) {
    for (std::size_t i = 0; i < line.size();) i += step(line, i);
    if (!long_quote_) value_ += '\n';
    return depth_ <= 0 && !long_quote_;
  }

  std::string value() const {
    std::string_view text(value_);
    while (text.ends_with('\n')) text.remove_suffix(1);
    return unquoted(text);
  }

 private:
  /// Bytes that were taken.
  std::size_t step(std::string_view line, std::size_t at) {
    const std::string_view rest = line.substr(at);
    if (long_quote_) {
      const std::string close(3, *long_quote_);
      const bool ends = rest.starts_with(close);
      const bool escaped = *long_quote_ == '"' && rest.starts_with('\\') && rest.size() > 1;
      const std::size_t size = ends ? 3 : (escaped ? 2 : 1);
      value_ += rest.substr(0, size);
      if (ends) long_quote_.reset();
      return size;
    }
    const char c = rest.front();
    if (c == '#') return rest.size();
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
      long_quote_ = c;
      value_ += rest.substr(0, 3);
      return 3;
    }
    if (c == '"' || c == '\'') return take_string(rest);
    if (c == '[' || c == '{') ++depth_;
    if (c == ']' || c == '}') --depth_;
    value_ += c;
    return 1;
  }

  std::size_t take_string(std::string_view rest) {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != rest.front()) {
      end += rest.front() == '"' && rest[end] == '\\' ? 2 : 1;
    }
    end = std::min(end + 1, rest.size());
    value_ += rest.substr(0, end);
    return end;
  }

  std::string value_;
  int depth_ = 0;
  std::optional<char> long_quote_;
};

/// "[a.b]" or "[[a.b]]"; false: it is none.
Result<bool> take_header(Scanned& scanned, std::size_t line, std::string_view text) {
  if (!text.starts_with('[')) return false;
  const bool list = text.starts_with("[[");
  text.remove_prefix(list ? 2 : 1);
  const auto name = take_key(text);
  if (!name || !text.starts_with(list ? "]]" : "]")) {
    return not_edited(line, "it is no table of TOML");
  }
  scanned.sections.push_back({*name, line, list});
  return true;
}

}  // namespace

Result<Scanned> scan_toml(const Lines& lines) {
  Scanned scanned;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view text = trimmed(lines.at(i));
    if (text.empty() || text.starts_with('#')) continue;
    COVE_TRY(const bool header, take_header(scanned, i, text));
    if (header) continue;
    auto key = take_key(text);
    if (!key || !text.starts_with('=')) return not_edited(i, "it is no 'key = value' of TOML");
    const std::size_t begin = i;
    ValueReader reader;
    for (bool ended = reader.take(text.substr(1)); !ended; ended = reader.take(lines.at(i))) {
      if (++i == lines.size()) return not_edited(begin, "its value has no end");
    }
    const std::string section = scanned.sections.empty() ? "" : scanned.sections.back().name;
    scanned.items.push_back({section, *std::move(key), reader.value(), begin, i + 1});
  }
  return scanned;
}

}  // namespace cove::prepare

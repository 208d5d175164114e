#include "agent/edits/nearest_lines.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/text/display_text.hpp"
#include "base/text/utf8.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kSearched = 8U << 20U;  // bytes of the file
constexpr std::size_t kCompared = 256;        // bytes of a line
constexpr std::size_t kShownBytes = 100;      // of a line
constexpr std::size_t kShownLines = 3;
constexpr unsigned kLikeEnough = 40;  // of 100

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// How alike lines are to one: by the pairs of neighbouring bytes that both have.
class Likeness {
 public:
  explicit Likeness(std::string_view wanted) : wanted_(trimmed(wanted).substr(0, kCompared)) {
    for (std::size_t i = 0; i + 1 < wanted_.size(); ++i) ++pairs_[pair_at(wanted_, i)];
  }

  /// 0 to 100.
  unsigned of(std::string_view line) {
    const std::string_view other = trimmed(line).substr(0, kCompared);
    if (other == wanted_) return 100;
    if (other.size() < 2 || wanted_.size() < 2) return 0;
    std::size_t common = 0;
    std::size_t looked = 0;
    for (; looked + 1 < other.size(); ++looked) {
      if (pairs_[pair_at(other, looked)]-- > 0) ++common;
    }
    for (std::size_t i = 0; i < looked; ++i) ++pairs_[pair_at(other, i)];
    return static_cast<unsigned>(200 * common / (wanted_.size() + other.size() - 2));
  }

 private:
  static std::size_t pair_at(std::string_view text, std::size_t i) {
    return (static_cast<std::size_t>(static_cast<unsigned char>(text[i])) << 8U) |
           static_cast<unsigned char>(text[i + 1]);
  }

  std::string_view wanted_;
  std::vector<std::int32_t> pairs_ = std::vector<std::int32_t>(65'536);
};

struct Candidate {
  unsigned likeness = 0;
  std::size_t line = 0;  // from 0
};

std::vector<Candidate> best_lines(const std::vector<std::string_view>& lines,
                                  std::string_view wanted) {
  Likeness likeness(wanted);
  std::vector<Candidate> best;
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.likeness != b.likeness ? a.likeness > b.likeness : a.line < b.line;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Candidate candidate{likeness.of(lines[i]), i};
    if (candidate.likeness < kLikeEnough) continue;
    if (best.size() == kShownLines && !better(candidate, best.back())) continue;
    if (best.size() == kShownLines) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), candidate, better), candidate);
  }
  return best;
}

std::string shown(std::string_view line) {
  const std::size_t length = base::cut_before(line, kShownBytes);
  return "'" + base::escaped(line.substr(0, length)) + (length < line.size() ? "...'" : "'");
}

std::string numbered(const std::vector<std::string_view>& lines, std::size_t line) {
  return "line " + std::to_string(line + 1) + " is " + shown(lines[line]);
}

/// Where the lines of the file from `begin` on first differ from the wanted ones.
std::string first_difference(const std::vector<std::string_view>& lines, std::size_t begin,
                             const std::vector<std::string_view>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (begin + i >= lines.size())
      return "the file ends after line " + std::to_string(lines.size());
    const std::string_view there = lines[begin + i];
    if (there == wanted[i]) continue;
    if (trimmed(there) == trimmed(wanted[i])) {
      return "only the white space differs: " + numbered(lines, begin + i) +
             " where old_text has " + shown(wanted[i]);
    }
    return "the nearest " + numbered(lines, begin + i) + " where old_text has " + shown(wanted[i]);
  }
  return "the nearest text begins in line " + std::to_string(begin + 1);
}

}  // namespace

std::string describe_nearest(std::string_view text, std::string_view wanted) {
  if (text.empty()) return "the file is empty";
  const auto lines = lines_of(text.substr(0, kSearched));
  const auto wanted_lines = lines_of(wanted);
  // The longest line says most about where the text was meant to be.
  const auto longest =
      std::max_element(wanted_lines.begin(), wanted_lines.end(),
                       [](auto a, auto b) { return trimmed(a).size() < trimmed(b).size(); });
  if (longest == wanted_lines.end()) return "it has no such line";
  const auto best = best_lines(lines, *longest);
  if (best.empty()) return "no line of it is like the text";
  const auto offset = static_cast<std::size_t>(longest - wanted_lines.begin());
  const std::size_t at = best.front().line;
  std::string words = first_difference(lines, at >= offset ? at - offset : 0, wanted_lines);
  for (std::size_t i = 1; i < best.size(); ++i) words += "; " + numbered(lines, best[i].line);
  return words;
}

}  // namespace cove::agent

#include <algorithm>
#include <string_view>

#include <cove/skills.hpp>

#include "base/text/name_text.hpp"
#include "base/text/utf8.hpp"

namespace cove {
namespace {

constexpr std::size_t kLongestDescription = 500;  // characters
constexpr std::string_view kHead = "<available_skills>\n";
constexpr std::string_view kFoot = "</available_skills>\n";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

/// The first `count` characters.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && ++seen > count) return text.substr(0, i);
  }
  return text;
}

/// On one line: runs of spaces, line ends and control characters become one space.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : base::marked_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool blank = byte <= 0x20 || byte == 0x7F;
    if (!blank) line += c;
    if (blank && !line.empty() && !line.ends_with(' ')) line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  if (characters(line) <= kLongestDescription) return line;
  return std::string(first_characters(line, kLongestDescription - 1)) + "\u2026";
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string line_of(const SkillInfo& skill) {
  return "<skill><name>" + xml(one_line(skill.name)) + "</name><description>" +
         xml(one_line(skill.description)) + "</description><location>" +
         xml(one_line(base::name_text(skill.location))) + "</location></skill>\n";
}

std::string left_out_line(std::size_t count) {
  return "<left_out>" + std::to_string(count) +
         (count == 1 ? " more skill is" : " more skills are") + " not listed here</left_out>\n";
}

}  // namespace

std::string SkillIndex::prompt(std::size_t max_characters) const {
  if (skills.empty()) return {};
  const std::size_t frame = kHead.size() + kFoot.size();
  std::string lines;
  std::size_t used = frame;
  // The longest beginning of the list that fits, with the line on what is missing where it is.
  std::string best;
  for (std::size_t listed = 0;; ++listed) {
    const std::size_t left = skills.size() - listed;
    const std::string rest = left > 0 ? left_out_line(left) : std::string();
    if (used + rest.size() <= max_characters)
      best = std::string(kHead) + lines + rest + std::string(kFoot);
    if (left == 0 || used > max_characters) return best;
    const std::string line = line_of(skills[listed]);
    lines += line;
    used += characters(line);
  }
}

}  // namespace cove

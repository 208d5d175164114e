#include "agent/search/walk/glob_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text/display_text.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMostSpellings = 1'000;
constexpr std::size_t kLongest = 4'096;
constexpr int kDeepestBraces = 20;

/// Where the class that begins at `open` ends: behind its `]`. npos: nowhere.
std::size_t end_of_class(std::string_view text, std::size_t open) {
  std::size_t at = open + 1;
  if (at < text.size() && (text[at] == '!' || text[at] == '^')) ++at;
  if (at < text.size() && text[at] == ']') ++at;
  while (at < text.size() && text[at] != ']') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() ? at + 1 : std::string_view::npos;
}

/// The first brace that is not escaped and not in a class.
std::size_t find_brace(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '{') {
    if (text[at] == '[') {
      const std::size_t end = end_of_class(text, at);
      at = end == std::string_view::npos ? at + 1 : end;
    } else {
      at += text[at] == '\\' ? 2 : 1;
    }
  }
  return std::min(at, text.size());
}

struct BraceGroup {
  std::vector<std::string_view> choices;
  std::size_t end = std::string_view::npos;  ///< behind its `}`
};

BraceGroup read_braces(std::string_view text, std::size_t open) {
  BraceGroup group;
  int depth = 0;
  std::size_t choice = open + 1;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '{') {
      if (++depth > kDeepestBraces) return group;
    } else if (text[at] == ',' && depth == 1) {
      group.choices.push_back(text.substr(choice, at - choice));
      choice = at + 1;
    } else if (text[at] == '}' && --depth == 0) {
      group.choices.push_back(text.substr(choice, at - choice));
      group.end = at + 1;
      return group;
    }
  }
  return group;
}

}  // namespace

Error Glob::Parser::wrong(std::size_t at, const std::string& what) const {
  return {ErrorCode::kInvalidArgument, "the glob " + base::quoted(text_) + " is wrong at byte " +
                                           std::to_string(at) + ": " + what};
}

Result<std::vector<std::string>> Glob::Parser::expand() const {
  if (text_.size() > kLongest) return wrong(kLongest, "it is longer than 4,096 bytes");
  std::vector<std::string> done;
  std::vector<std::string> open{std::string(text_)};
  while (!open.empty()) {
    const std::string text = std::move(open.back());
    open.pop_back();
    const std::size_t brace = find_brace(text, 0);
    if (brace == text.size()) {
      done.push_back(text);
      continue;
    }
    const BraceGroup group = read_braces(text, brace);
    if (group.end == std::string_view::npos) {
      return wrong(find_brace(text_, 0), "the brace has no end, or is nested too deep");
    }
    for (auto choice = group.choices.rbegin(); choice != group.choices.rend(); ++choice) {
      open.push_back(text.substr(0, brace) + std::string(*choice) + text.substr(group.end));
    }
    if (open.size() + done.size() > kMostSpellings) {
      return wrong(find_brace(text_, 0), "its braces stand for more than 1,000 globs");
    }
  }
  return done;
}

Result<Glob::Alternative> Glob::Parser::parts(std::string_view spelling, Glob& glob) const {
  if (spelling.find('/') != std::string_view::npos) glob.has_slash_ = true;
  if (spelling.starts_with('/')) spelling.remove_prefix(1);
  Alternative parts;
  Part part;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= spelling.size();) {
    if (at < spelling.size() && spelling[at] != '/') {
      COVE_TRY_VOID(read_token(spelling, at, part, glob));
      continue;
    }
    const std::string_view name = spelling.substr(begin, at - begin);
    part.any_depth = name == "**";
    const bool again = part.any_depth && !parts.empty() && parts.back().any_depth;
    if (!again && (!name.empty() || spelling.empty())) parts.push_back(std::move(part));
    part = Part();
    begin = ++at;
  }
  // A last `**` stands for at least one name: what lies below.
  if (parts.size() > 1 && parts.back().any_depth) {
    Part any;
    any.tokens.push_back({Kind::kStar, 0, 0});
    parts.push_back(std::move(any));
  }
  if (parts.empty()) parts.emplace_back();
  if (parts.size() == 1 && parts.front().any_depth) {
    parts.front().any_depth = false;  // `**` alone: every name
    parts.front().tokens.assign(1, {Kind::kStar, 0, 0});
    glob.has_slash_ = false;
  }
  return parts;
}

Result<void> Glob::Parser::read_token(std::string_view name, std::size_t& at, Part& part,
                                      Glob& glob) const {
  Token token;
  switch (name[at]) {
    case '*':
      ++at;
      token.kind = Kind::kStar;
      if (!part.tokens.empty() && part.tokens.back().kind == Kind::kStar) return ok();
      break;
    case '?':
      ++at;
      token.kind = Kind::kAnyByte;
      break;
    case '[': {
      std::vector<bool> set(256);
      COVE_TRY(at, read_class(name, at, set));
      token.kind = Kind::kClass;
      token.set = static_cast<std::uint32_t>(glob.sets_.size());
      glob.sets_.push_back(std::move(set));
      break;
    }
    case '\\':
      if (at + 1 == name.size()) return wrong(text_.size() - 1, "nothing follows the backslash");
      ++at;
      [[fallthrough]];
    default: token.byte = name[at++]; break;
  }
  part.tokens.push_back(token);
  return ok();
}

Result<std::size_t> Glob::Parser::read_class(std::string_view name, std::size_t at,
                                             std::vector<bool>& set) const {
  // Where braces were written out, only the glob's own first bracket can be named.
  const std::size_t first_bracket = std::min(text_.find('['), text_.size());
  const std::size_t end = end_of_class(name, at);
  if (end == std::string_view::npos) {
    return wrong(name == text_ ? at : first_bracket, "the class has no end");
  }
  ++at;
  const bool negated = name[at] == '!' || name[at] == '^';
  if (negated) ++at;
  const auto take = [&] {
    if (name[at] == '\\' && at + 2 < end) ++at;
    return static_cast<unsigned char>(name[at++]);
  };
  while (at + 1 < end) {
    const std::size_t range = at;
    const unsigned char first = take();
    unsigned char last = first;
    if (at + 2 < end && name[at] == '-') {
      ++at;
      last = take();
    }
    if (last < first)
      return wrong(name == text_ ? range : first_bracket, "the range ends before it begins");
    for (unsigned byte = first; byte <= last; ++byte) set[byte] = true;
  }
  if (negated) set.flip();
  set['/'] = false;
  return end;
}

}  // namespace cove::agent

#include "agent/search/walk/glob.hpp"

#include <algorithm>
#include <utility>

#include "agent/search/walk/glob_parser.hpp"

namespace cove::agent {

Result<Glob> Glob::parse(std::string_view text, Braces braces) {
  Parser parser(text);
  COVE_TRY(const auto spellings, braces == Braces::kAlternatives
                                     ? parser.expand()
                                     : Result<std::vector<std::string>>({std::string(text)}));
  Glob glob;
  for (const std::string& spelling : spellings) {
    COVE_TRY(Alternative parts, parser.parts(spelling, glob));
    glob.alternatives_.push_back(std::move(parts));
  }
  glob.find_shortcuts();
  return glob;
}

void Glob::find_shortcuts() {
  if (alternatives_.size() != 1 || has_slash_ || alternatives_.front().size() != 1) return;
  const auto& tokens = alternatives_.front().front().tokens;
  const bool star = !tokens.empty() && tokens.front().kind == Kind::kStar;
  std::string text;
  for (std::size_t i = star ? 1 : 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::kByte) return;
    text += tokens[i].byte;
  }
  (star ? only_ending_ : only_name_) = std::move(text);
}

bool Glob::matches(std::string_view path, std::string_view name) const {
  if (!only_name_.empty()) return name == only_name_;
  if (!only_ending_.empty()) return name.ends_with(only_ending_);
  return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const Alternative& parts) {
    return has_slash_ ? matches_path(parts, path) : matches_name(parts.front().tokens, name);
  });
}

bool Glob::matches_token(const Token& token, char byte) const {
  switch (token.kind) {
    case Kind::kByte: return token.byte == byte;
    case Kind::kAnyByte: return true;
    case Kind::kClass: return sets_[token.set][static_cast<unsigned char>(byte)];
    case Kind::kStar: return false;
  }
  return false;
}

/// Goes back only to the last star: an earlier one has nothing to gain from another length.
bool Glob::matches_name(const std::vector<Token>& tokens, std::string_view name) const {
  std::size_t token = 0;
  std::size_t at = 0;
  std::size_t star = tokens.size();
  std::size_t star_end = 0;
  while (at < name.size()) {
    if (token < tokens.size() && tokens[token].kind == Kind::kStar) {
      star = token++;
      star_end = at;
    } else if (token < tokens.size() && matches_token(tokens[token], name[at])) {
      ++token;
      ++at;
    } else if (star < tokens.size()) {
      token = star + 1;
      at = ++star_end;
    } else {
      return false;
    }
  }
  return std::all_of(tokens.begin() + static_cast<std::ptrdiff_t>(token), tokens.end(),
                     [](const Token& rest) { return rest.kind == Kind::kStar; });
}

/// The same with names for bytes and `**` for the star.
bool Glob::matches_path(const Alternative& parts, std::string_view path) const {
  const auto end_of = [&](std::size_t at) { return std::min(path.find('/', at), path.size()); };
  std::size_t part = 0;
  std::size_t at = 0;
  std::size_t deep = parts.size();
  std::size_t deep_end = 0;
  while (at < path.size()) {
    if (part < parts.size() && parts[part].any_depth) {
      deep = part++;
      deep_end = at;
      continue;
    }
    const std::size_t end = end_of(at);
    if (part < parts.size() && matches_name(parts[part].tokens, path.substr(at, end - at))) {
      ++part;
      at = std::min(end + 1, path.size());
    } else if (deep < parts.size()) {
      part = deep + 1;
      at = deep_end = std::min(end_of(deep_end) + 1, path.size());
    } else {
      return false;
    }
  }
  // `a/**` is what lies below `a`, not `a` itself; a `**` that has had a name is satisfied.
  return part == parts.size();
}

Result<GlobList> GlobList::parse(const std::vector<std::string>& texts) {
  GlobList list;
  for (const std::string& text : texts) {
    std::string_view rest(text);
    if (rest.empty()) return Error(ErrorCode::kInvalidArgument, "a glob is empty");
    while (rest.starts_with("./")) rest.remove_prefix(2);
    const bool directory_only = rest.size() > 1 && rest.ends_with('/');
    if (directory_only) rest.remove_suffix(1);
    COVE_TRY(Glob glob, Glob::parse(rest, Braces::kAlternatives));
    list.globs_.push_back({std::move(glob), directory_only});
  }
  return list;
}

bool GlobList::matches(std::string_view path, std::string_view name, bool is_directory) const {
  return std::any_of(globs_.begin(), globs_.end(), [&](const Entry& entry) {
    return (is_directory || !entry.directory_only) && entry.glob.matches(path, name);
  });
}

}  // namespace cove::agent

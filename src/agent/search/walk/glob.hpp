/// Glob: patterns of names and paths, as search.hpp describes them; and git's, for ignore files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cove/result.hpp>

namespace cove::agent {

enum class Braces : bool { kPlain, kAlternatives };

class Glob {
 public:
  /// kInvalidArgument: it is wrong, and where. A `/` at the end is the caller's to take away.
  static Result<Glob> parse(std::string_view text, Braces braces);

  /// True where it is held against whole paths, else against the last name only. A `/` at the front
  /// or inside makes it so.
  bool has_slash() const noexcept { return has_slash_; }

  /// `name`: the last name of `path`. Time: at most their lengths times the glob's.
  bool matches(std::string_view path, std::string_view name) const;

  /// Only that very name matches; empty where that is not so.
  const std::string& only_name() const noexcept { return only_name_; }
  /// Only names that end so match, and all of those; empty where that is not so.
  const std::string& only_ending() const noexcept { return only_ending_; }

 private:
  enum class Kind : std::uint8_t { kByte, kAnyByte, kStar, kClass };
  struct Token {
    Kind kind = Kind::kByte;
    char byte = 0;
    std::uint32_t set = 0;  ///< index into sets_
  };
  struct Part {
    bool any_depth = false;  ///< `**`: any number of directories
    std::vector<Token> tokens;
  };
  using Alternative = std::vector<Part>;
  class Parser;

  bool matches_name(const std::vector<Token>& tokens, std::string_view name) const;
  bool matches_token(const Token& token, char byte) const;
  bool matches_path(const Alternative& parts, std::string_view path) const;
  void find_shortcuts();

  std::vector<Alternative> alternatives_;
  std::vector<std::vector<bool>> sets_;
  bool has_slash_ = false;
  std::string only_name_;
  std::string only_ending_;
};

/// What a caller includes or excludes.
class GlobList {
 public:
  /// kInvalidArgument: one is wrong, and where.
  static Result<GlobList> parse(const std::vector<std::string>& texts);

  bool empty() const noexcept { return globs_.empty(); }
  bool matches(std::string_view path, std::string_view name, bool is_directory) const;

 private:
  struct Entry {
    Glob glob;
    bool directory_only = false;
  };
  std::vector<Entry> globs_;
};

}  // namespace cove::agent

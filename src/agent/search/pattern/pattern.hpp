/// Pattern: what is searched for, checked and made ready; Matcher: one thread's use of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cove/result.hpp>
#include <cove/search.hpp>

#include "agent/search/pattern/byte_scan.hpp"

namespace re2 {
class RE2;
}

namespace cove::agent {

class Pattern {
 public:
  /// kInvalidArgument: the pattern is wrong, and where; kTooLarge: it needs too much memory.
  static Result<Pattern> compile(const GrepQuery& query);

 private:
  friend class Matcher;
  Pattern() = default;
  static Result<Pattern> of_literal(const GrepQuery& query);
  static Result<Pattern> of_expression(std::string expression, const GrepQuery& query);
  void take_needles(const std::vector<ByteRun>& runs);

  std::string expression_;  ///< RE2's; empty where `run_` alone decides
  bool utf8_ = true;
  bool ignore_case_ = false;
  bool word_ = false;      ///< the match is the expression's first group
  bool by_block_ = false;  ///< may be given many lines at once
  bool line_end_ = false;  ///< but not where lines end in \r\n
  std::vector<ByteNeedle> needles_;
  ByteRun run_;           ///< where every match is just this
  std::size_t lead_ = 0;  ///< where the needle is in it
};

/// Where a match is in its line.
struct MatchSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Matcher {
 public:
  /// Both are borrowed. Once `stopped` is set, answers come early and mean nothing.
  Matcher(const Pattern& pattern, const std::atomic<bool>& stopped);
  ~Matcher();

  /// Begins with the whole lines [at, end).
  void begin_block(const char* at, const char* end);

  /// A place in the first line of the block from `at` on that may match; `end` where none does.
  const char* candidate(const char* at, const char* end);

  /// The first match in `line` (without its end) that begins at `from` or after it.
  bool next(std::string_view line, std::size_t from, MatchSpan& match);

 private:
  const char* candidate_by_expression(const char* at, const char* end);
  bool next_run(std::string_view line, std::size_t from, MatchSpan& match) const;

  const Pattern& pattern_;
  const std::atomic<bool>& stopped_;
  std::unique_ptr<re2::RE2> expression_;
  std::size_t slice_;
  bool line_by_line_ = false;  ///< the block at hand is not searched as a whole
};

}  // namespace cove::agent

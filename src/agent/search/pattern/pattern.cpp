#include "agent/search/pattern/pattern.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <re2/re2.h>

#include "agent/search/pattern/pattern_error.hpp"
#include "agent/search/pattern/required.hpp"
#include "agent/search/pattern/required_part.hpp"
#include "base/text/utf8.hpp"

namespace cove::agent {
namespace {

constexpr std::int64_t kMemory = 8 << 20;  // of one thread's expression
constexpr double kMostHits = 2'500;        // of 100,000 places: more candidates cost too much
constexpr std::size_t kSlice = 64 * 1024;
constexpr std::size_t kLeastSlice = 1024;
constexpr std::chrono::milliseconds kSliceTime{8};  // so that a stop is heard soon

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & '\x80') == 0; });
}

re2::RE2::Options options_of(bool utf8, bool ignore_case) {
  re2::RE2::Options options;
  options.set_encoding(utf8 ? re2::RE2::Options::EncodingUTF8 : re2::RE2::Options::EncodingLatin1);
  options.set_case_sensitive(!ignore_case);
  options.set_never_nl(true);
  options.set_log_errors(false);
  options.set_max_mem(kMemory);
  return options;
}

bool holds(const ByteRun& run, const char* at) {
  for (const ByteClass& set : run) {
    if (!set[static_cast<unsigned char>(*at++)]) return false;
  }
  return true;
}

/// Where in `run` the rarest needle begins.
std::size_t best_lead(const ByteRun& run) {
  std::size_t best = 0;
  double best_hits = 0;
  for (std::size_t from = 0; from == 0 || from + kLongestNeedle <= run.size(); ++from) {
    const auto begin = run.begin() + static_cast<std::ptrdiff_t>(from);
    const std::size_t length = std::min(kLongestNeedle, run.size() - from);
    const double hits =
        expected_hits({ByteRun(begin, begin + static_cast<std::ptrdiff_t>(length))});
    if (from > 0 && hits >= best_hits) continue;
    best = from;
    best_hits = hits;
  }
  return best;
}

}  // namespace

Result<Pattern> Pattern::compile(const GrepQuery& query) {
  if (query.literal && !query.whole_word && (!query.ignore_case || is_ascii(query.pattern))) {
    return of_literal(query);
  }
  if (query.literal) return of_expression(re2::RE2::QuoteMeta(query.pattern), query);
  return of_expression(query.pattern, query);
}

Result<Pattern> Pattern::of_literal(const GrepQuery& query) {
  if (query.pattern.find('\n') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument,
                 "the pattern has a line end at byte " + std::to_string(query.pattern.find('\n')) +
                     "; each line is searched by itself, so nothing can match it");
  }
  const RequiredBytes required = required_of_literal(query.pattern, query.ignore_case);
  Pattern pattern;
  pattern.take_needles(required.any_of);
  pattern.run_ = required.any_of.front();
  return pattern;
}

Result<Pattern> Pattern::of_expression(std::string expression, const GrepQuery& query) {
  Pattern pattern;
  pattern.utf8_ = base::is_utf8(expression);
  pattern.ignore_case_ = query.ignore_case;
  const re2::RE2 plain(expression, options_of(pattern.utf8_, query.ignore_case));
  if (!plain.ok()) return pattern_error(plain, expression);
  const RequiredBytes required =
      required_bytes(expression, {.ignore_case = query.ignore_case, .utf8 = pattern.utf8_});
  pattern.by_block_ = required.by_block && !query.whole_word;
  pattern.line_end_ = required.line_end;
  if (expected_hits(required.any_of) < kMostHits) pattern.take_needles(required.any_of);
  if (required.is_whole && !query.whole_word && !pattern.needles_.empty()) {
    pattern.run_ = required.any_of.front();
    return pattern;
  }
  pattern.word_ = query.whole_word;
  const std::string other = pattern.utf8_ ? "[^\\pL\\pM\\pN_]" : "\\W";
  pattern.expression_ = query.whole_word
                            ? "(?:^|" + other + ")(" + expression + ")(?:" + other + "|$)"
                            : "(?m)" + expression;
  const re2::RE2 made(pattern.expression_, options_of(pattern.utf8_, query.ignore_case));
  if (!made.ok()) return pattern_error(made, expression);
  return pattern;
}

void Pattern::take_needles(const std::vector<ByteRun>& runs) {
  for (const ByteRun& run : runs) {
    const std::size_t lead = best_lead(run);
    const auto begin = run.begin() + static_cast<std::ptrdiff_t>(lead);
    const std::size_t length = std::min(kLongestNeedle, run.size() - lead);
    needles_.push_back(make_needle(ByteRun(begin, begin + static_cast<std::ptrdiff_t>(length))));
    lead_ = lead;
  }
}

Matcher::Matcher(const Pattern& pattern, const std::atomic<bool>& stopped)
    : pattern_(pattern), stopped_(stopped), slice_(kSlice) {
  if (pattern.expression_.empty()) return;
  // One for each thread: its automaton grows as it is used, behind a lock.
  expression_ = std::make_unique<re2::RE2>(pattern.expression_,
                                           options_of(pattern.utf8_, pattern.ignore_case_));
}

Matcher::~Matcher() = default;

void Matcher::begin_block(const char* at, const char* end) {
  if (!pattern_.needles_.empty()) return;
  // A `$` in a whole block does not see that `\r` belongs to the line's end.
  line_by_line_ =
      !pattern_.by_block_ ||
      (pattern_.line_end_ && std::memchr(at, '\r', static_cast<std::size_t>(end - at)) != nullptr);
}

const char* Matcher::candidate(const char* at, const char* end) {
  if (!pattern_.needles_.empty()) {
    return find_needle(pattern_.needles_.data(), pattern_.needles_.size(), at, end);
  }
  if (line_by_line_) return at;
  return candidate_by_expression(at, end);
}

const char* Matcher::candidate_by_expression(const char* at, const char* end) {
  using Clock = std::chrono::steady_clock;
  while (at < end && !stopped_.load(std::memory_order_relaxed)) {
    const char* stop = end;
    if (static_cast<std::size_t>(end - at) > slice_) {
      const void* newline =
          std::memchr(at + slice_, '\n', static_cast<std::size_t>(end - at) - slice_);
      if (newline != nullptr) stop = static_cast<const char*>(newline) + 1;
    }
    const re2::StringPiece block(at, static_cast<std::size_t>(stop - at));
    re2::StringPiece found;
    const auto before = Clock::now();
    const bool hit = expression_->Match(block, 0, block.size(), re2::RE2::UNANCHORED, &found, 1);
    const auto time = Clock::now() - before;
    if (time > kSliceTime) slice_ = std::max(kLeastSlice, slice_ / 4);
    if (hit && found.data() < stop) return found.data();
    at = stop;  // an empty match behind the last line end is none
  }
  return end;
}

bool Matcher::next(std::string_view line, std::size_t from, MatchSpan& match) {
  if (!pattern_.run_.empty()) return next_run(line, from, match);
  if (from > line.size()) return false;
  const re2::StringPiece text(line.data(), line.size());
  re2::StringPiece groups[2];
  const int group = pattern_.word_ ? 1 : 0;
  if (!expression_->Match(text, from, text.size(), re2::RE2::UNANCHORED, groups, group + 1)) {
    return false;
  }
  match.begin = static_cast<std::size_t>(groups[group].data() - line.data());
  match.end = match.begin + groups[group].size();
  return true;
}

bool Matcher::next_run(std::string_view line, std::size_t from, MatchSpan& match) const {
  const ByteRun& run = pattern_.run_;
  const char* const end = line.data() + line.size();
  while (from + run.size() <= line.size()) {
    const char* place =
        find_needle(pattern_.needles_.data(), 1, line.data() + from + pattern_.lead_, end);
    if (place == end) return false;
    const auto begin = static_cast<std::size_t>(place - line.data()) - pattern_.lead_;
    if (begin + run.size() > line.size()) return false;
    if (run.size() <= kLongestNeedle || holds(run, line.data() + begin)) {
      match = {begin, begin + run.size()};
      return true;
    }
    from = begin + 1;
  }
  return false;
}

}  // namespace cove::agent

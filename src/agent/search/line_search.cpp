#include "agent/search/line_search.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/search/line_window.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kSegment = 48U * 1024;     // bytes after which a segment goes
constexpr std::size_t kUnpacked = 1024U * 1024;  // with the path written out for each line
constexpr std::size_t kKeptContext = 1U << 20U;  // bytes of earlier lines kept at most

const char* line_begin(const char* at, const char* floor) {
  if (at == floor) return floor;
  const void* newline = ::memrchr(floor, '\n', static_cast<std::size_t>(at - floor));
  return newline == nullptr ? floor : static_cast<const char*>(newline) + 1;
}

/// Without its line end.
std::string_view content(const char* begin, const char* end) {
  std::string_view line(begin, static_cast<std::size_t>(end - begin));
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

LineSearch::LineSearch(const GrepQuery& query, const Pattern& pattern,
                       const std::atomic<bool>& stopped, bool short_is_end)
    : query_(query), stopped_(stopped), matcher_(pattern, stopped), text_(short_is_end) {}

int LineSearch::search(int fd, std::string_view path, LineSink& sink, SearchSummary& counts) {
  path_ = path;
  sink_ = &sink;
  searched_ = added_ = counted_ = unpacked_ = 0;
  line_ = 1;
  after_left_ = 0;
  matches_ = 0;
  full_ = false;
  segment_ = FoundSegment();
  counts_ = &counts;
  ++counts.files_searched;
  int error_number = text_.begin(fd);
  Step step = text_.is_binary() ? Step::kBinary : Step::kGoOn;
  while (error_number == 0 && step == Step::kGoOn && !stopped_.load(std::memory_order_relaxed)) {
    const std::size_t end = block_end();
    if (end > searched_) step = search_block(end);
    if (step != Step::kGoOn || (text_.at_end() && end == text_.size())) break;
    error_number = text_.more(keep_from(end));
  }
  flush();
  text_.shrink();
  if (step == Step::kBinary) ++counts.files_binary;
  return error_number;
}

/// Whole lines are searched; what is left of the last one waits for the rest of it.
std::size_t LineSearch::block_end() const {
  const std::size_t size = text_.size();
  if (text_.at_end() || size - searched_ >= TextBuffer::kLongestLine) return size;
  const void* newline = ::memrchr(text_.data() + searched_, '\n', size - searched_);
  if (newline == nullptr) return searched_;
  return static_cast<std::size_t>(static_cast<const char*>(newline) - text_.data()) + 1;
}

/// Lets go of what no later line needs for its context, and moves the places accordingly.
std::size_t LineSearch::keep_from(std::size_t end) {
  const char* keep = text_.data() + end;
  if (query_.context_before > 0) {
    const std::size_t most = std::min(end, kKeptContext);
    const char* floor = text_.data() + std::max(end - most, std::min(added_, end));
    for (std::uint32_t i = 0; i < query_.context_before && keep > floor; ++i) {
      keep = line_begin(keep - 1, floor);
    }
  }
  const auto from = static_cast<std::size_t>(keep - text_.data());
  number_of(keep);
  counted_ = 0;
  searched_ = end - from;
  added_ = added_ > from ? added_ - from : 0;
  return from;
}

const char* LineSearch::end_of_line(const char* begin, const char* limit) const {
  const void* newline = std::memchr(begin, '\n', static_cast<std::size_t>(limit - begin));
  return newline == nullptr ? limit : static_cast<const char*>(newline) + 1;
}

LineSearch::Step LineSearch::search_block(std::size_t end) {
  const char* const limit = text_.data() + end;
  const char* at = text_.data() + searched_;
  block_limit_ = end;
  block_checked_ = false;
  matcher_.begin_block(at, limit);
  const bool enough = query_.limit && matches_ >= *query_.limit;
  while (!enough && at < limit) {
    const char* place = matcher_.candidate(at, limit);
    if (place == limit || stopped_.load(std::memory_order_relaxed)) break;
    const char* begin = line_begin(place, at);
    const char* next = end_of_line(place, limit);
    const Step step = take_line(begin, next);
    if (step == Step::kBinary || full_) return step;
    if (step == Step::kEnough) break;
    at = next;
  }
  const bool more_context = add_context_after(limit);
  searched_ = end;
  if (full_) return Step::kEnough;
  return query_.limit && matches_ >= *query_.limit && !more_context ? Step::kEnough : Step::kGoOn;
}

LineSearch::Step LineSearch::take_line(const char* begin, const char* end) {
  const std::string_view line = content(begin, end);
  MatchSpan match;
  if (!matcher_.next(line, 0, match)) return Step::kGoOn;
  if (!block_checked_) {
    const char* from = text_.data() + searched_;
    const auto length = static_cast<std::size_t>(text_.data() + block_limit_ - from);
    if (std::memchr(from, '\0', length) != nullptr) return Step::kBinary;
    block_checked_ = true;
  }
  add_context_after(begin);
  add_context_before(begin);
  before_adding();
  add_match(begin, line, match);
  added_ = static_cast<std::size_t>(end - text_.data());
  after_left_ = query_.context_after;
  if (full_ || (query_.limit && matches_ >= *query_.limit)) return Step::kEnough;
  return Step::kGoOn;
}

void LineSearch::add_match(const char* begin, std::string_view line, const MatchSpan& first) {
  const LineWindow window = window_of(line, first, query_.max_line_bytes);
  submatches_.clear();
  MatchSpan match = first;
  for (;;) {
    const auto span = window.clip(match);
    if (span) submatches_.push_back(*span);
    if (submatches_.size() == wire::kMostSubmatches || match.end >= window.end) break;
    // An empty match gives way to what begins behind it.
    const std::size_t from = match.end > match.begin ? match.end : next_character(line, match.end);
    if (from > line.size() || !matcher_.next(line, from, match) || match.begin >= window.end) break;
  }
  wire::LineView view;
  view.line = number_of(begin);
  view.column = first.begin + 1;
  view.text = line.substr(window.begin, window.end - window.begin);
  view.submatches = submatches_.data();
  view.submatch_count = submatches_.size();
  view.cut = view.text.size() < line.size();
  view.text_offset = window.begin;
  packer_.add(view);
  if (++matches_ == 1) ++counts_->files_matched;
  ++segment_.matches;
  unpacked_ += path_.size() + view.text.size();
}

void LineSearch::add_context_before(const char* line) {
  if (query_.context_before == 0) return;
  const char* const floor = text_.data() + added_;
  const char* from = line;
  for (std::uint32_t i = 0; i < query_.context_before && from > floor; ++i) {
    from = line_begin(from - 1, floor);
  }
  if (from < line) before_adding();
  while (from < line) {
    const char* next = end_of_line(from, line);
    add_context_line(from, next);
    from = next;
  }
}

/// The lines after the last match and before `until`; true where more are to come behind it.
bool LineSearch::add_context_after(const char* until) {
  while (after_left_ > 0 && text_.data() + added_ < until) {
    const char* begin = text_.data() + added_;
    const char* next = end_of_line(begin, until);
    if (segment_.matches == 0 && packer_.size() == 0) packer_.begin(path_, text_.encoding());
    add_context_line(begin, next);
    --after_left_;
  }
  return after_left_ > 0;
}

void LineSearch::add_context_line(const char* begin, const char* end) {
  const std::string_view line = content(begin, end);
  const LineWindow window = window_of(line, MatchSpan{}, query_.max_line_bytes);
  wire::LineView view;
  view.line = number_of(begin);
  view.text = line.substr(0, window.end);
  view.cut = window.end < line.size();
  packer_.add(view);
  unpacked_ += path_.size() + view.text.size();
  added_ = static_cast<std::size_t>(end - text_.data());
}

/// Lines are asked for in their order.
std::uint64_t LineSearch::number_of(const char* line) {
  line_ += count_lines(text_.data() + counted_, line);
  counted_ = static_cast<std::size_t>(line - text_.data());
  return line_;
}

/// Between two matches with their context: where a segment may end, and may be cut.
void LineSearch::before_adding() {
  if (packer_.size() > kSegment || unpacked_ > kUnpacked) flush();
  if (packer_.size() == 0) {
    packer_.begin(path_, text_.encoding());
  } else if (query_.limit && segment_.cuts.size() < segment_.matches) {
    segment_.cuts.push_back(static_cast<std::uint32_t>(packer_.size()));
  }
}

bool LineSearch::flush() {
  if (packer_.size() == 0) return true;
  segment_.bytes = packer_.take();
  if (query_.limit && segment_.cuts.size() < segment_.matches) {
    segment_.cuts.push_back(static_cast<std::uint32_t>(segment_.bytes.size()));
  }
  unpacked_ = 0;
  full_ = !sink_->take(std::exchange(segment_, FoundSegment()));
  return !full_;
}

}  // namespace cove::agent

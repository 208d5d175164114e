#include "agent/files/line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "agent/files/content_type.hpp"
#include "base/system/system_error.hpp"
#include "base/text/utf8.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kBuffer = 256 * 1024;
constexpr int kBuffersAtOnce = 64;
constexpr std::uint64_t kCountOn = 16ULL << 20U;  // bytes that are worth reading for a total
constexpr std::uint64_t kFewestBytes = 4;         // the longest UTF-8 character
constexpr std::uint64_t kMostBytes = 8ULL << 20U;

}  // namespace

Result<void> check_range(const LineRange& range) {
  if (range.first == 0) return Error(ErrorCode::kInvalidArgument, "lines are numbered from 1");
  if (range.count == 0)
    return Error(ErrorCode::kInvalidArgument, "at least 1 line must be asked for");
  if (range.max_bytes < kFewestBytes || range.max_bytes > kMostBytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "max_bytes is 4 to 8388608, not " + std::to_string(range.max_bytes));
  }
  return ok();
}

LineReader::LineReader(base::UniqueFd file, FileInfo info, const LineRange& range)
    : file_(std::move(file)), size_(info.size), range_(range) {
  slice_.info = std::move(info);
  slice_.first = range.first;
  slice_.content_type = content_type_of(*file_);
}

Result<bool> LineReader::step() {
  for (int i = 0; i < kBuffersAtOnce && phase_ != Phase::kDone; ++i) {
    COVE_TRY(const bool more, fill());
    if (!more) {
      size_ = position_;  // also where the file became shorter meanwhile
      finish();
    } else {
      use_buffer();
    }
  }
  return phase_ == Phase::kDone;
}

/// False: the file is at its end and the buffer is used up.
Result<bool> LineReader::fill() {
  if (used_ < buffer_.size()) return true;
  if (read_to_ >= size_) return false;
  buffer_.resize(kBuffer);
  used_ = 0;
  const std::size_t room = std::min<std::uint64_t>(kBuffer, size_ - read_to_);
  ssize_t got = 0;
  do {
    got = ::pread(*file_, buffer_.data(), room, static_cast<off_t>(read_to_));
  } while (got < 0 && errno == EINTR);
  buffer_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return base::system_error(errno, "read the file");
  read_to_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

void LineReader::use_buffer() {
  switch (phase_) {
    case Phase::kSkip: return skip();
    case Phase::kCollect: return collect();
    case Phase::kCount: return count_rest();
    case Phase::kDone: return;
  }
}

void LineReader::skip() {
  const std::string_view rest = std::string_view(buffer_).substr(used_);
  std::size_t at = 0;
  while (lines_ + 1 < range_.first) {
    const std::size_t end = rest.find('\n', at);
    if (end == std::string_view::npos) {
      at = rest.size();
      break;
    }
    ++lines_;
    at = end + 1;
  }
  in_line_ = at > 0 ? rest[at - 1] != '\n' : in_line_;
  used_ += at;
  position_ += at;
  if (lines_ + 1 < range_.first) return;
  slice_.offset = position_;
  phase_ = Phase::kCollect;
}

void LineReader::collect() {
  while (used_ < buffer_.size() && phase_ == Phase::kCollect) {
    const std::string_view rest = std::string_view(buffer_).substr(used_);
    const std::size_t end = rest.find('\n');
    const bool ends = end != std::string_view::npos;
    take_line(rest.substr(0, ends ? end + 1 : rest.size()), ends);
  }
}

void LineReader::take_line(std::string_view piece, bool ends) {
  if (slice_.text.size() + piece.size() > range_.max_bytes) {
    if (slice_.count == 0) {
      slice_.text += piece.substr(0, range_.max_bytes + kFewestBytes - slice_.text.size());
      slice_.text.resize(base::cut_before(slice_.text, range_.max_bytes));
      slice_.count = 1;
      slice_.cut = true;
    } else {
      slice_.text.resize(line_begin_);
    }
    return stop_collecting(true);
  }
  slice_.text += piece;
  used_ += piece.size();
  position_ += piece.size();
  in_line_ = !ends;
  if (!ends) return;
  ++lines_;
  ++slice_.count;
  line_begin_ = slice_.text.size();
  if (slice_.count == range_.count) stop_collecting(false);
}

/// Has what was asked for; reads on only where the total is near.
void LineReader::stop_collecting(bool line_is_open) {
  if (line_is_open || position_ < size_) slice_.next = slice_.first + slice_.count;
  phase_ = Phase::kCount;
  count_until_ = position_ + kCountOn;
}

void LineReader::count_rest() {
  const std::string_view rest = std::string_view(buffer_).substr(used_);
  lines_ += static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
  in_line_ = rest.empty() ? in_line_ : rest.back() != '\n';
  used_ = buffer_.size();
  position_ += rest.size();
  if (position_ < size_ && size_ > count_until_) phase_ = Phase::kDone;
}

/// The scan reached the end of the file.
void LineReader::finish() {
  if (phase_ == Phase::kSkip) slice_.offset = position_;
  if (phase_ == Phase::kCollect && in_line_) ++slice_.count;  // a last line without LF
  slice_.total_lines = lines_ + (in_line_ ? 1 : 0);
  if (slice_.next && *slice_.next > *slice_.total_lines) slice_.next.reset();
  phase_ = Phase::kDone;
}

}  // namespace cove::agent

#include "wire/kept_output.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"

namespace cove::wire {
namespace {

/// A character has at most 4 bytes, so 3 beyond a cut tell whether it goes through one.
constexpr std::size_t kLook = 3;
constexpr std::size_t kSlack = 64 * 1024;

/// Where the first `lines` lines of `text` end; 0 lines = as many as there are.
std::size_t first_lines(std::string_view text, std::uint64_t lines) {
  if (lines == 0) return text.size();
  std::size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) {
    const std::size_t next = text.find('\n', end);
    end = next == std::string_view::npos ? text.size() : next + 1;
  }
  return end;
}

/// Where the last `lines` lines of `text` begin; 0 lines = as many as there are.
std::size_t last_lines(std::string_view text, std::uint64_t lines) {
  if (lines == 0 || text.empty()) return 0;
  std::size_t begin = text.size();
  for (; lines > 0 && begin > 0; --lines) {
    // The character before `begin` ends the line that is counted now.
    const std::size_t previous = begin < 2 ? std::string_view::npos : text.rfind('\n', begin - 2);
    begin = previous == std::string_view::npos ? 0 : previous + 1;
  }
  return begin;
}

}  // namespace

void KeptOutput::append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t head_room = head_limit_ + kLook - std::min(head_.size(), head_limit_ + kLook);
  head_.append(bytes.substr(0, head_room));
  const std::size_t keep = tail_limit_ + kLook;
  if (bytes.size() >= keep) {
    tail_.assign(bytes.substr(bytes.size() - keep));
    return;
  }
  tail_.append(bytes);
  // Cut now and then, not each time: the cost stays linear.
  if (tail_.size() > 2 * keep + kSlack) tail_.erase(0, tail_.size() - keep);
}

std::string KeptOutput::whole() const {
  const std::size_t head = static_cast<std::size_t>(std::min(total_, head_limit_));
  const std::size_t rest = static_cast<std::size_t>(total_) - head;
  std::string text = head_.substr(0, head);
  text.append(tail_, tail_.size() - rest);
  return text;
}

StreamOutput KeptOutput::take() {
  StreamOutput output;
  output.total_bytes = total_;
  if (is_whole()) {
    std::string text = whole();
    const std::size_t head =
        std::min(first_lines(text, head_lines_),
                 base::cut_before(text, static_cast<std::size_t>(head_limit_)));
    const std::size_t tail_limit = std::min<std::size_t>(text.size(), tail_limit_);
    const std::size_t tail =
        std::max(last_lines(text, tail_lines_), base::cut_after(text, text.size() - tail_limit));
    const bool lines_bite = head_lines_ > 0 || tail_lines_ > 0;
    if (lines_bite && head < tail) {
      output.tail = text.substr(tail);
      text.resize(head);
      output.dropped_bytes = tail - head;
    }
    output.head = std::move(text);
    return output;
  }
  head_.resize(base::cut_before(head_, static_cast<std::size_t>(head_limit_)));
  head_.resize(first_lines(head_, head_lines_));
  if (tail_.size() > tail_limit_ + kLook) tail_.erase(0, tail_.size() - tail_limit_ - kLook);
  const std::size_t before = tail_.size() - std::min<std::size_t>(tail_.size(), tail_limit_);
  tail_.erase(0, base::cut_after(tail_, before));
  tail_.erase(0, last_lines(tail_, tail_lines_));
  output.head = std::move(head_);
  output.tail = std::move(tail_);
  output.dropped_bytes = total_ - output.head.size() - output.tail.size();
  return output;
}

}  // namespace cove::wire

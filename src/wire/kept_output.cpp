#include "wire/kept_output.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"

namespace cove::wire {
namespace {

/// A character has at most 4 bytes, so 3 beyond a cut tell whether it goes through one.
constexpr std::size_t kLook = 3;
constexpr std::size_t kSlack = 64 * 1024;

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

StreamOutput KeptOutput::take() {
  StreamOutput output;
  output.total_bytes = total_;
  if (total_ <= head_limit_ + tail_limit_) {
    const std::size_t head = static_cast<std::size_t>(std::min(total_, head_limit_));
    const std::size_t rest = static_cast<std::size_t>(total_) - head;
    head_.resize(head);
    output.head = std::move(head_);
    output.head.append(tail_, tail_.size() - rest);
    return output;
  }
  head_.resize(base::cut_before(head_, static_cast<std::size_t>(head_limit_)));
  if (tail_.size() > tail_limit_ + kLook) tail_.erase(0, tail_.size() - tail_limit_ - kLook);
  const std::size_t before = tail_.size() - std::min<std::size_t>(tail_.size(), tail_limit_);
  tail_.erase(0, base::cut_after(tail_, before));
  output.head = std::move(head_);
  output.tail = std::move(tail_);
  output.dropped_bytes = total_ - output.head.size() - output.tail.size();
  return output;
}

}  // namespace cove::wire

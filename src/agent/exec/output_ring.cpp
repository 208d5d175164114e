#include "agent/exec/output_ring.hpp"

#include <algorithm>

namespace cove::agent {

void OutputRing::append(std::string_view bytes) {
  const std::size_t all = bytes.size();
  if (all > capacity_) {
    end_ += all - capacity_;
    held_ = 0;
    bytes.remove_prefix(all - capacity_);
  }
  while (!bytes.empty()) {
    const auto at = static_cast<std::size_t>(end_ % capacity_);
    const std::size_t run = std::min(bytes.size(), capacity_ - at);
    // The string's own growth doubles, so a short output costs little.
    if (buffer_.size() < at + run) buffer_.resize(at + run);
    bytes.copy(buffer_.data() + at, run);
    bytes.remove_prefix(run);
    end_ += run;
    held_ = std::min(held_ + run, capacity_);
  }
}

std::string_view OutputRing::at(std::uint64_t offset, std::size_t limit) const {
  const auto place = static_cast<std::size_t>(offset % capacity_);
  const auto left = static_cast<std::size_t>(end_ - offset);
  return std::string_view(buffer_).substr(place, std::min({left, limit, capacity_ - place}));
}

}  // namespace cove::agent

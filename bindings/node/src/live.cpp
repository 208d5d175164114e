#include "live.hpp"

#include <algorithm>
#include <cstdint>

namespace cove_node {
namespace {

constexpr std::uint64_t kCloseMs = 15'000;

}  // namespace

void Live::add(const std::shared_ptr<CoveHandle>& cove) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto gone = [](const std::weak_ptr<CoveHandle>& weak) { return weak.expired(); };
  coves_.erase(std::remove_if(coves_.begin(), coves_.end(), gone), coves_.end());
  coves_.push_back(cove);
}

void Live::end_all() noexcept {
  std::vector<std::weak_ptr<CoveHandle>> coves;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    coves.swap(coves_);
  }
  for (const auto& weak : coves) {
    // What does not end in time is left behind: the process, or the worker, ends anyway.
    if (const auto cove = weak.lock()) cove->library->cove_close(cove->raw, kCloseMs, nullptr);
  }
}

}  // namespace cove_node

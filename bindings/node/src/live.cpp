#include "live.hpp"

#include <algorithm>
#include <cstdint>

namespace cove_node {
namespace {

constexpr std::uint64_t kCloseMs = 15'000;

/// Forgets what nobody has any more.
template <class T>
void prune(std::vector<std::weak_ptr<T>>& all) {
  const auto gone = [](const std::weak_ptr<T>& weak) { return weak.expired(); };
  all.erase(std::remove_if(all.begin(), all.end(), gone), all.end());
}

}  // namespace

void Live::add(const std::shared_ptr<CoveHandle>& cove) {
  const std::lock_guard<std::mutex> lock(mutex_);
  prune(coves_);
  coves_.push_back(cove);
}

bool Live::add(const std::shared_ptr<DoneHandle>& question) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return false;
  if (questions_.size() >= prune_at_) {
    prune(questions_);
    prune_at_ = std::max(kFewQuestions, 2 * questions_.size());
  }
  questions_.push_back(question);
  return true;
}

void Live::end_all() noexcept {
  std::vector<std::weak_ptr<CoveHandle>> coves;
  std::vector<std::weak_ptr<DoneHandle>> questions;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    coves.swap(coves_);
    questions.swap(questions_);
  }
  // JavaScript waits here itself: what it was asked it answers no more, and no close waits for it.
  for (const auto& weak : questions) {
    const auto question = weak.lock();
    if (question == nullptr) continue;
    question->library->cove_done_fail(question->raw, COVE_UNAVAILABLE,
                                      "the JavaScript that would answer has ended", -1, nullptr);
  }
  for (const auto& weak : coves) {
    // What does not end in time is left behind: the process, or the worker, ends anyway.
    if (const auto cove = weak.lock()) cove->library->cove_close(cove->raw, kCloseMs, nullptr);
  }
}

}  // namespace cove_node

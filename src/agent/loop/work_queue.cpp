#include "agent/loop/work_queue.hpp"

#include <system_error>

namespace cove::agent {

void WorkQueue::start() {
  try {
    while (threads_.size() < count_) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // one does all, where the system has no more
  }
}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    queue_.clear();
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void WorkQueue::submit(Work work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void WorkQueue::run() {
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (closing_) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    loop_.post(work());
  }
}

}  // namespace cove::agent

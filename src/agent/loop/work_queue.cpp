#include "agent/loop/work_queue.hpp"

namespace cove::agent {

WorkQueue::WorkQueue(EventLoop& loop, unsigned threads) : loop_(loop) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
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

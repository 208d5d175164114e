#include "base/async/worker_pool.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/async/quiet_thread.hpp"

namespace cove::base {

class WorkerPool::Impl {
 public:
  explicit Impl(unsigned threads) {
    threads_.reserve(threads);
    try {
      for (unsigned i = 0; i < threads; ++i) {
        threads_.push_back(start_quiet_thread("cove-worker", [this] { run(); }));
      }
    } catch (...) {
      end();  // the system has no thread more; those that there are must not be left
      throw;
    }
  }

  ~Impl() { end(); }

  void submit(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
  }

 private:
  void end() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
        if (queue_.empty()) return;
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

WorkerPool::WorkerPool(unsigned threads) : impl_(std::make_unique<Impl>(threads)) {}
WorkerPool::~WorkerPool() = default;
void WorkerPool::submit(std::function<void()> work) { impl_->submit(std::move(work)); }

}  // namespace cove::base

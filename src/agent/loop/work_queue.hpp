/// WorkQueue: the agent's worker threads, for file operations that may last.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/loop/event_loop.hpp"

namespace cove::agent {

class WorkQueue {
 public:
  /// What is left to do on the loop after the work.
  using Finish = std::function<void()>;
  using Work = std::function<Finish()>;

  /// The threads inherit the caller's file-system ids and signal mask.
  WorkQueue(EventLoop& loop, unsigned threads);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void submit(Work work);

 private:
  void run();

  EventLoop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;  ///< guarded by mutex_
  bool closing_ = false;    ///< guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace cove::agent

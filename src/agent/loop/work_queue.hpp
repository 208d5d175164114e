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

  WorkQueue(EventLoop& loop, unsigned threads) : loop_(loop), count_(threads) {}
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Starts the threads; once they run, nothing. They inherit the caller's file-system ids and
  /// signal mask. On the loop's thread. Throws std::system_error where not even one can be had.
  void start();

  /// REQUIRES: somebody calls start(), before or after.
  void submit(Work work);

 private:
  void run();

  EventLoop& loop_;
  const unsigned count_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;  ///< guarded by mutex_
  bool closing_ = false;    ///< guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace cove::agent

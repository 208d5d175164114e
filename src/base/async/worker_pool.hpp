/// Blocking work beside the scheduler: a small, bounded pool, and the coroutine that uses it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"

namespace cove::base {

/// Runs what may block. The pool is one; InlineExecutor, for simulations, is another.
class BlockingExecutor {
 public:
  virtual ~BlockingExecutor() = default;

  /// Runs `work` once, some time, elsewhere. From any thread; never blocks.
  virtual void submit(std::function<void()> work) = 0;
};

/// Runs it at once, on the caller's thread.
class InlineExecutor final : public BlockingExecutor {
 public:
  void submit(std::function<void()> work) override { work(); }
};

/// A fixed number of threads that block all signals. The destructor lets what was submitted finish.
class WorkerPool final : public BlockingExecutor {
 public:
  explicit WorkerPool(unsigned threads);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void submit(std::function<void()> work) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs `work` on the executor while the caller goes on; the caller waits for what this returns
/// before anything that `work` refers to ends.
template <class Work>
std::shared_ptr<Completion<std::invoke_result_t<Work&>>> begin_offload(BlockingExecutor& executor,
                                                                       Scheduler& scheduler,
                                                                       Work work) {
  using Value = std::invoke_result_t<Work&>;
  const auto completion = Completion<Value>::make(scheduler);
  executor.submit([completion, work = std::move(work)] { completion->complete(work()); });
  return completion;
}

/// Runs `work` on the executor and resumes on the scheduler with what it returned. What `work`
/// refers to must outlive the task. A unit of work is short (one statement, one piece of a file):
/// work that itself waits for other work of the pool would deadlock a pool that is full of it.
template <class Work>
Task<std::invoke_result_t<Work&>> offload(BlockingExecutor& executor, Scheduler& scheduler,
                                          Work work) {
  using Value = std::invoke_result_t<Work&>;
  const auto completion = Completion<Value>::make(scheduler);
  // `work` lives in this coroutine's frame, which waits below.
  executor.submit([completion, &work] { completion->complete(work()); });
  co_return co_await completion->wait();
}

}  // namespace cove::base

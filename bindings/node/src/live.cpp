#include "live.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <pthread.h>
#include <signal.h>

namespace cove_node {
namespace {

constexpr std::uint64_t kCloseMs = 15'000;
constexpr std::chrono::seconds kThreadsEnd{15};

template <class T>
void add_to(std::vector<std::weak_ptr<T>>& list, const std::shared_ptr<T>& item) {
  const auto gone = [](const std::weak_ptr<T>& weak) { return weak.expired(); };
  list.erase(std::remove_if(list.begin(), list.end(), gone), list.end());
  list.push_back(item);
}

}  // namespace

struct Live::Task {
  std::shared_ptr<Live> live;
  std::function<void()> work;
};

void Live::add(const std::shared_ptr<CoveHandle>& cove) {
  const std::lock_guard<std::mutex> lock(mutex_);
  add_to(coves_, cove);
}

void Live::add(const std::shared_ptr<Abandonable>& work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  add_to(works_, work);
}

bool Live::has_ended() noexcept {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool Live::start_thread(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return false;
    ++threads_;
  }
  auto task = std::make_unique<Task>(Task{shared_from_this(), std::move(work)});
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failed = pthread_create(&thread, nullptr, &Live::run, task.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    finish_thread();
    return false;
  }
  (void)task.release();
  pthread_detach(thread);
  return true;
}

void* Live::run(void* raw) {
  auto task = std::unique_ptr<Task>(static_cast<Task*>(raw));
  pthread_setname_np(pthread_self(), "cove-node");
  const auto live = std::move(task->live);
  task->work();
  task.reset();  // what the work held goes before the thread counts as ended
  live->finish_thread();
  return nullptr;
}

void Live::finish_thread() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  --threads_;
  changed_.notify_all();
}

void Live::end_all() noexcept {
  std::vector<std::weak_ptr<CoveHandle>> coves;
  std::vector<std::weak_ptr<Abandonable>> works;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    coves.swap(coves_);
    works.swap(works_);
  }
  for (const auto& weak : works) {
    if (const auto work = weak.lock()) work->abandon();
  }
  for (const auto& weak : coves) {
    // What does not end in time is left behind: the process, or the worker, ends anyway.
    if (const auto cove = weak.lock()) cove->library->cove_close(cove->raw, kCloseMs, nullptr);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, kThreadsEnd, [this] { return threads_ == 0; });
}

}  // namespace cove_node

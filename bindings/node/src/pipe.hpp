/// What comes on threads of Cove, on its way to JavaScript, which takes it when it likes.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "environment.hpp"

namespace cove_node {

/// Calls a function of JavaScript's when there is something to look at. The function must not hold
/// what it wakes, so that this can be collected; calls may come as one, and for nothing.
class Waker : public std::enable_shared_from_this<Waker> {
 public:
  /// On the environment's thread.
  Waker(const Environment& environment, napi_value on_wake) : mailbox_(environment.mailbox) {
    napi_create_reference(environment.env, on_wake, 1, &on_wake_);
  }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// Any thread.
  void wake() {
    if (!pending_.exchange(true)) mailbox_->post(std::make_unique<Wake>(shared_from_this()));
  }

  /// Any thread; the last one, after which the function is let go of.
  void wake_last() {
    last_ = true;
    mailbox_->post(std::make_unique<Wake>(shared_from_this()));
  }

 private:
  struct Wake final : Message {
    explicit Wake(std::shared_ptr<Waker> its_waker) : waker(std::move(its_waker)) {}
    void deliver(napi_env env) override { waker->call(env); }
    std::shared_ptr<Waker> waker;
  };

  void call(napi_env env) {
    pending_ = false;
    if (on_wake_ == nullptr) return;
    napi_value function = nullptr;
    napi_get_reference_value(env, on_wake_, &function);
    if (last_) {
      napi_delete_reference(env, on_wake_);
      on_wake_ = nullptr;
    }
    napi_call_function(env, undefined_of(env), function, 0, nullptr, nullptr);
  }

  static napi_value undefined_of(napi_env env) {
    napi_value value = nullptr;
    napi_get_undefined(env, &value);
    return value;
  }

  MailboxPtr mailbox_;
  napi_ref on_wake_ = nullptr;  // of the environment's thread
  std::atomic<bool> pending_{false};
  std::atomic<bool> last_{false};
};

/// What a take gives.
template <class Item>
struct Taken {
  std::vector<Item> items;
  bool is_end = false;   // nothing is there, and nothing will come
  bool resumes = false;  // the source waits, and is to go on now
};

/// Items in their order, then the end. Any thread.
template <class Item>
class Pipe {
 public:
  /// What waits for its reader; past it the source is slowed down.
  static constexpr std::size_t kLimit = 1U << 20U;

  Pipe(std::shared_ptr<Waker> waker, std::size_t limit = kLimit)
      : waker_(std::move(waker)), limit_(limit) {}

  /// True: the source is to pause. `merge(last, item)` may put an item into the one before.
  template <class Merge>
  bool push(Item item, std::size_t size, Merge merge) {
    bool pauses = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_discarding_) return false;
      if (items_.empty() || !merge(items_.back().first, item)) {
        items_.emplace_back(std::move(item), size);
      } else {
        items_.back().second += size;
      }
      buffered_ += size;
      is_paused_ = is_paused_ || buffered_ >= limit_;
      pauses = is_paused_;
    }
    waker_->wake();
    return pauses;
  }

  bool push(Item item, std::size_t size) {
    return push(std::move(item), size, [](Item&, Item&) { return false; });
  }

  /// What waits is thrown away, and this is there instead.
  void replace(Item item, std::size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    items_.clear();
    items_.emplace_back(std::move(item), size);
    buffered_ = size;
    is_paused_ = false;
  }

  void end() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      has_ended_ = true;
    }
    waker_->wake_last();
  }

  /// At most about `most` bytes, but at least one item where there is any.
  Taken<Item> take(std::size_t most) {
    Taken<Item> taken;
    std::size_t size = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    while (!items_.empty() && (size == 0 || size + items_.front().second <= most)) {
      size += items_.front().second;
      taken.items.push_back(std::move(items_.front().first));
      items_.pop_front();
    }
    buffered_ -= size;
    taken.is_end = taken.items.empty() && has_ended_;
    taken.resumes = is_paused_ && buffered_ < limit_ / 2;
    if (taken.resumes) is_paused_ = false;
    return taken;
  }

  /// What is there and what comes is thrown away.
  void discard() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_discarding_ = true;
    items_.clear();
    buffered_ = 0;
  }

  std::size_t buffered() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return buffered_;
  }

 private:
  const std::shared_ptr<Waker> waker_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::deque<std::pair<Item, std::size_t>> items_;
  std::size_t buffered_ = 0;
  bool is_paused_ = false;
  bool is_discarding_ = false;
  bool has_ended_ = false;
};

}  // namespace cove_node

/// What runs on the host's side of a call: its functions, which may throw, and its thread, which
/// may wait where the scheduler may not.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "client/guest_link.hpp"

namespace cove::client {

/// Calls a function of the host that gives a T or a Result<T>; what it throws is kInternal, and is
/// said to be `name`'s.
template <class T, class Function, class... Args>
Result<T> call_host(const char* name, const Function& function, const Args&... args) {
  try {
    return function(args...);
  } catch (...) {
    return Error(ErrorCode::kInternal, std::string(name) + " threw: " + base::caught_text());
  }
}

template <class T>
Task<int> destroy(std::unique_ptr<T>& object) {
  object.reset();
  co_return 0;
}

/// What belongs to the scheduler's thread, and goes there.
template <class T>
class Held {
 public:
  Held(Scheduler& scheduler, std::unique_ptr<T> object)
      : scheduler_(scheduler), object_(std::move(object)) {}
  ~Held() { base::sync_wait(scheduler_, destroy(object_)); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  T& operator*() const noexcept { return *object_; }

 private:
  Scheduler& scheduler_;
  std::unique_ptr<T> object_;
};

/// Runs `work`, (const CallContext&) -> Result<T>, as an admitted call on the calling thread.
template <class T, class Work>
Result<T> run_here(GuestLink& link, const CallContext& call, Work work) {
  try {
    const base::Waiting waiting(call);
    COVE_TRY(const std::unique_ptr<CallScope> scope, link.begin(waiting.call()));
    if (link.on_scheduler()) {
      return Error(ErrorCode::kFailedPrecondition,
                   "a call that blocks inside one of Cove's callbacks would wait for itself; make "
                   "it on a thread of your own");
    }
    return work(scope->context());
  } catch (...) {
    return base::caught_error();
  }
}

}  // namespace cove::client

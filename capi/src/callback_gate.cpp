#include "callback_gate.hpp"

#include <cstddef>
#include <new>

#include <pthread.h>
#include <unistd.h>

#include "callbacks.hpp"
#include "guard.hpp"
#include "options.hpp"

namespace cove::capi {
namespace {

thread_local bool ends_callbacks = false;

}  // namespace

CallbackGate& CallbackGate::instance() noexcept {
  alignas(CallbackGate) static std::byte place[sizeof(CallbackGate)];
  static CallbackGate& gate = *[] {
    ::pthread_atfork(nullptr, nullptr, &CallbackGate::begin_child);
    return new (place) CallbackGate;
  }();
  return gate;
}

void CallbackGate::begin_child() noexcept {
  // Of the parent's threads the one that forked is there, and it may have done so in a callback.
  instance().inside_ = CallbackScope::active() ? 1 : 0;
}

void CallbackGate::enter() noexcept {
  // First counted, then asked: whoever ends them either sees this one or is seen by it.
  ++inside_;
  if (!ended_ || ends_callbacks) return;
  leave();
  for (;;) ::pause();
}

void CallbackGate::leave() noexcept {
  if (--inside_ > 0 || !ended_) return;
  const std::lock_guard lock(mutex_);
  left_.notify_all();
}

bool CallbackGate::end(std::chrono::milliseconds bound) {
  ends_callbacks = true;
  ended_ = true;
  // A callback that ends them does not wait for itself.
  const int own = CallbackScope::active() ? 1 : 0;
  std::unique_lock lock(mutex_);
  return left_.wait_for(lock, bound, [&] { return inside_ <= own; });
}

}  // namespace cove::capi

extern "C" cove_status cove_end_callbacks(uint64_t timeout_ms, cove_error** out_error) {
  using namespace cove;
  return capi::guarded(out_error, [&]() -> Result<void> {
    if (capi::CallbackGate::instance().end(capi::milliseconds_of(timeout_ms))) return ok();
    return Error(ErrorCode::kTimeout, "a callback of the host still runs; no other will begin");
  });
}

/// Callbacks of the host: whose data they get, and that each is called as often as promised.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include <cove/result.hpp>

#include "guard.hpp"

namespace cove::capi {

/// The host's user_data and what ends its use: called once, at the latest by the destructor.
class UserData {
 public:
  UserData(void* data, cove_drop_fn drop) noexcept : data_(data), drop_(drop) {}
  UserData(UserData&& other) noexcept
      : data_(other.data_), drop_(std::exchange(other.drop_, nullptr)) {}
  UserData& operator=(UserData&&) = delete;
  ~UserData() { end(); }

  void* get() const noexcept { return data_; }
  void end() noexcept;

 private:
  void* data_;
  cove_drop_fn drop_;
};

/// Stands while a callback of the host runs on this thread: what waits is refused meanwhile,
/// since it could only wait for the thread it is on. Does not return where callbacks were ended.
class CallbackScope {
 public:
  CallbackScope() noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  static bool active() noexcept;
};

/// kFailedPrecondition where callbacks were ended: what would come through one is not begun.
Result<void> check_callbacks();

namespace detail {

template <class Out>
struct DoneFunction {
  using Type = void (*)(void*, Out*, cove_error*);
  static void call(Type done, void* data, Out* out, cove_error* error) { done(data, out, error); }
};

template <>
struct DoneFunction<void> {
  using Type = cove_done_fn;
  static void call(Type done, void* data, void*, cove_error* error) { done(data, error); }
};

}  // namespace detail

/// One completion callback: called exactly once, or never where the start failed; `drop` follows
/// it. Where the Cove closes first and lets go of it unanswered, the answer is kCancelled.
template <class Out>
class Reply {
 public:
  using Function = typename detail::DoneFunction<Out>::Type;

  /// What the host gets: an object that it owns from then on, or nothing.
  using Made = std::conditional_t<std::is_void_v<Out>, Result<void>, Result<Out*>>;

  Reply(Function done, UserData user) noexcept : done_(done), user_(std::move(user)) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply() {
    send([]() -> Made {
      return Error(ErrorCode::kCancelled, "the Cove was closed before the call ended");
    });
  }

  void* user_data() const noexcept { return user_.get(); }

  /// Answers with what `make` returns: a Made.
  template <class Make>
  void send(Make make) noexcept {
    if (closed_.exchange(true)) return;
    Out* out = nullptr;
    cove_error* const error = run([&]() -> Result<void> {
      Made made = make();
      if (!made) return made.error();
      if constexpr (!std::is_void_v<Out>) out = *made;
      return ok();
    });
    {
      const CallbackScope scope;
      detail::DoneFunction<Out>::call(done_, user_.get(), out, error);
    }
    user_.end();
  }

  /// The start failed: no answer will come.
  void abandon() noexcept {
    if (!closed_.exchange(true)) user_.end();
  }

 private:
  Function done_;
  UserData user_;
  std::atomic<bool> closed_{false};
};

/// The body of every `_start` function: `body` gets the Reply and starts the work.
template <class Out, class Body>
cove_status guarded_start(cove_error** out_error, typename Reply<Out>::Function done,
                          void* user_data, cove_drop_fn drop, Body&& body) noexcept {
  UserData user(user_data, drop);
  return guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(require(reinterpret_cast<const void*>(done), "done"));
    COVE_TRY_VOID(check_callbacks());
    const auto reply = std::make_shared<Reply<Out>>(done, std::move(user));
    cove_error* const failed = run([&] { return body(reply); });
    if (failed == nullptr) return ok();
    reply->abandon();
    const std::unique_ptr<cove_error, void (*)(cove_error*)> owned(failed, cove_error_free);
    return failed->error;
  });
}

}  // namespace cove::capi

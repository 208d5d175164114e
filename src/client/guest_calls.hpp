/// One exchange with the guest: fetch it, ask it, and tell the link how it went.
#pragma once

#include <utility>

#include "client/guest_link.hpp"

namespace cove::client {

/// Whether an exchange whose connection broke may be asked again. What changes something is asked
/// once: it may have been done.
enum class Repeat : bool { kNever, kOnce };

inline bool may_repeat(Repeat repeat, const Error& error) {
  return repeat == Repeat::kOnce && error.code() == ErrorCode::kUnavailable;
}

/// `Ask` is (Guest&, const CallContext&) -> Task<Result<T>>. All references outlive the task.
template <class T, class Ask>
Task<Result<T>> ask_guest(GuestLink& link, Repeat repeat, const CallContext& call, Ask& ask) {
  for (bool again = false;; again = true) {
    COVE_CO_TRY(const std::shared_ptr<Guest> guest, co_await link.guest(call));
    Task<Result<T>> task = ask(*guest, call);
    Result<T> result = co_await task;
    if (result) {
      link.note_answer();
      co_return result;
    }
    link.note_error(result.error());
    if (again || !may_repeat(repeat, result.error())) co_return result;
  }
}

/// Asks what `guest_call` is: a value with the type of its answer, whether it may be repeated, and
/// the question as operator(). It lives as long as the task; the link outlives it.
template <class Call>
Task<Result<typename Call::Value>> ask_call(GuestLink& link, Call guest_call,
                                            const CallContext& call) {
  co_return co_await ask_guest<typename Call::Value>(link, Call::kRepeat, call, guest_call);
}

}  // namespace cove::client

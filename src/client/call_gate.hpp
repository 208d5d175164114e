/// What the calls of the public API pass through: admission, and the way between the caller's
/// thread and the scheduler. The runtime implements it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>

#include "base/async/spawn.hpp"
#include "base/values/caught.hpp"

namespace cove::client {

/// One admitted call, until it is destroyed; from any thread.
class CallScope {
 public:
  virtual ~CallScope() = default;

  /// The caller's context, ended also when Cove closes.
  virtual const CallContext& context() const = 0;
};

class CallGate {
 public:
  virtual ~CallGate() = default;

  /// Admits a call; close waits for its end. kFailedPrecondition: closed, released, or in a child
  /// of fork(). Any thread.
  virtual Result<std::unique_ptr<CallScope>> begin(const CallContext& call) = 0;

  /// Runs `work` on the scheduler, and where there is none any more (closed, forked) at once, here.
  virtual void deliver(std::function<void()> work) = 0;

  virtual Scheduler& scheduler() = 0;
  virtual const Clock& clock() const = 0;

  /// True on the scheduler's own thread, where nothing may block.
  virtual bool on_scheduler() const = 0;

  /// Tells the log about a fault of the host's own code, which nobody else would hear of.
  virtual void complain(std::string_view what) = 0;
};

/// The Result type of what `Make` makes: a callable (const CallContext&) -> Task<Result<T>>.
template <class Make>
using ResultOf = typename std::invoke_result_t<Make&, const CallContext&>::value_type;

/// Runs the task that `make` makes, and blocks until it is done. No exception leaves.
template <class Make>
ResultOf<Make> run_blocking(CallGate& gate, const CallContext& call, Make make) {
  try {
    const base::Waiting waiting(call);
    COVE_TRY(const std::unique_ptr<CallScope> scope, gate.begin(waiting.call()));
    if (gate.on_scheduler()) {
      return Error(ErrorCode::kFailedPrecondition,
                   "a blocking call inside one of Cove's callbacks would wait for itself; use the "
                   "form with a callback");
    }
    return base::sync_wait(gate.scheduler(), make(scope->context()));
  } catch (...) {
    return base::caught_error();
  }
}

/// Calls a callback of the host; what it throws ends here.
template <class T>
void call_back(CallGate& gate, const std::function<void(Result<T>)>& done, Result<T> result) {
  try {
    if (done) done(std::move(result));
  } catch (...) {
    gate.complain("a completion callback threw: " + base::caught_text());
  }
}

namespace detail {

template <class T, class Make>
Task<void> run_to_callback(std::shared_ptr<CallGate> gate, std::unique_ptr<CallScope> scope,
                           Make make, std::function<void(Result<T>)> done) {
  std::optional<Result<T>> result;
  try {
    Task<Result<T>> task = make(scope->context());
    Result<T> value = co_await task;
    result.emplace(std::move(value));
  } catch (...) {
    result.emplace(base::caught_error());
  }
  call_back<T>(*gate, done, std::move(*result));
  // What the host captured goes while the call still counts: its destructors run here, not later.
  done = nullptr;
  scope.reset();
}

}  // namespace detail

/// Starts the task that `make` makes; `done` is called exactly once, on the scheduler.
template <class T, class Make>
void run_async(const std::shared_ptr<CallGate>& gate, const CallContext& call, Make make,
               std::function<void(Result<T>)> done) {
  auto scope = gate->begin(call);
  if (!scope) {
    gate->deliver([gate, error = scope.error(), done = std::move(done)] {
      call_back<T>(*gate, done, error);
    });
    return;
  }
  base::spawn(gate->scheduler(), detail::run_to_callback<T, Make>(
                                     gate, *std::move(scope), std::move(make), std::move(done)));
}

}  // namespace cove::client

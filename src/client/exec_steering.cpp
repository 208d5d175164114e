#include "client/exec_steering.hpp"

#include <unistd.h>

namespace cove::client {

ExecSteering::ExecSteering() : pid_(::getpid()) {}

void ExecSteering::resume() {
  if (::getpid() != pid_) return;
  std::shared_ptr<base::Completion<Result<void>>> waiting;
  {
    const std::lock_guard lock(mutex_);
    resumed_ = true;
    waiting = std::move(waiting_);
  }
  if (waiting) waiting->complete(ok());
}

void ExecSteering::cancel() {
  if (::getpid() == pid_) stop_.request_stop();
}

void ExecSteering::expect_resume() {
  const std::lock_guard lock(mutex_);
  resumed_ = false;
}

Task<Result<void>> ExecSteering::wait_resumed(Scheduler& scheduler, const CallContext& call) {
  std::shared_ptr<base::Completion<Result<void>>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (resumed_) co_return ok();
    waiting = base::Completion<Result<void>>::make(scheduler);
    waiting_ = waiting;
  }
  Result<void> result = co_await base::wait_bounded<void>(waiting, scheduler, call);
  const std::lock_guard lock(mutex_);
  waiting_ = nullptr;
  co_return result;
}

}  // namespace cove::client

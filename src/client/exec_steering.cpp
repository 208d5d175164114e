#include "client/exec_steering.hpp"

#include <utility>

#include <unistd.h>

namespace cove::client {
namespace {

Error is_over() {
  return {ErrorCode::kFailedPrecondition,
          "the command is over, or was started with neither an output callback nor an open stdin"};
}

}  // namespace

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
  if (::getpid() != pid_) return;
  cancelled_ = true;
  stop_.request_stop();
}

void ExecSteering::let_go() {
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

void ExecSteering::start(std::shared_ptr<GuestProcess> process) {
  process_ = std::move(process);
  tell_waiting(process_);
}

void ExecSteering::finish() {
  over_ = true;
  process_ = nullptr;
  tell_waiting(is_over());
}

void ExecSteering::tell_waiting(const Result<std::shared_ptr<GuestProcess>>& process) {
  for (const auto& waiting : std::exchange(waiting_for_start_, {})) waiting->complete(process);
}

Task<Result<std::shared_ptr<GuestProcess>>> ExecSteering::process(Scheduler& scheduler,
                                                                  const CallContext& call) {
  if (over_) co_return is_over();
  if (process_) co_return process_;
  const auto waiting = Started::make(scheduler);
  waiting_for_start_.push_back(waiting);
  Result<std::shared_ptr<GuestProcess>> started =
      co_await base::wait_bounded<std::shared_ptr<GuestProcess>>(waiting, scheduler, call);
  std::erase(waiting_for_start_, waiting);
  co_return started;
}

}  // namespace cove::client

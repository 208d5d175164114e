/// What an ExecHandle and its running command share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include <sys/types.h>

#include <cove/guest_commands.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"

namespace cove::client {

class ExecSteering {
 public:
  ExecSteering();

  /// From any thread; nothing in a child of fork(), whose locks may be held by nobody. Both of the
  /// last two stop the call; only after cancel does an attached process end.
  void resume();
  void cancel();
  void let_go();

  std::stop_token stop_token() const { return stop_.get_token(); }
  bool is_cancelled() const noexcept { return cancelled_; }

  /// Called on the scheduler before a callback that may pause: only a resume from here on counts,
  /// also one that comes before the callback has answered.
  void expect_resume();

  /// Waits for the resume, or the call's end.
  Task<Result<void>> wait_resumed(Scheduler& scheduler, const CallContext& call);

  /// On the scheduler: the command was started, or nothing can be asked of it any more.
  void start(std::shared_ptr<GuestProcess> process);
  void finish();

  /// On the scheduler: the command, once it was started. kFailedPrecondition: it is over.
  Task<Result<std::shared_ptr<GuestProcess>>> process(Scheduler& scheduler,
                                                      const CallContext& call);

 private:
  using Started = base::Completion<Result<std::shared_ptr<GuestProcess>>>;

  void tell_waiting(const Result<std::shared_ptr<GuestProcess>>& process);

  const pid_t pid_;
  std::stop_source stop_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  bool resumed_ = false;
  std::shared_ptr<base::Completion<Result<void>>> waiting_;

  // Of the scheduler's thread.
  std::shared_ptr<GuestProcess> process_;
  bool over_ = false;
  std::vector<std::shared_ptr<Started>> waiting_for_start_;
};

/// Tells a steering that its command is over, however the scope is left.
class EndOfSteering {
 public:
  explicit EndOfSteering(ExecSteering& steering) : steering_(steering) {}
  ~EndOfSteering() { steering_.finish(); }
  EndOfSteering(const EndOfSteering&) = delete;
  EndOfSteering& operator=(const EndOfSteering&) = delete;

 private:
  ExecSteering& steering_;
};

}  // namespace cove::client

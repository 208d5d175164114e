/// What an ExecHandle and its running command share.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>

#include <sys/types.h>

#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"

namespace cove::client {

class ExecSteering {
 public:
  ExecSteering();

  /// Both from any thread; nothing in a child of fork(), whose locks may be held by nobody.
  void resume();
  void cancel();

  std::stop_token stop_token() const { return stop_.get_token(); }

  /// Called on the scheduler before a callback that may pause: only a resume from here on counts,
  /// also one that comes before the callback has answered.
  void expect_resume();

  /// Waits for the resume, or the call's end.
  Task<Result<void>> wait_resumed(Scheduler& scheduler, const CallContext& call);

 private:
  const pid_t pid_;
  std::stop_source stop_;
  std::mutex mutex_;
  bool resumed_ = false;
  std::shared_ptr<base::Completion<Result<void>>> waiting_;
};

}  // namespace cove::client

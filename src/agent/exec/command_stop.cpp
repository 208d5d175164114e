// A command's limits in time, and how its tree is ended.
#include <algorithm>
#include <csignal>

#include "agent/exec/command_run.hpp"
#include "agent/exec/process_tree.hpp"

namespace cove::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstKillPause{2};
constexpr milliseconds kLongestKillPause{250};
constexpr milliseconds kCpuPause{100};

}  // namespace

void CommandRun::call_after(Timer& timer, milliseconds delay, void (CommandRun::*what)()) {
  timer = environment_.loop->call_after(delay, [weak = weak_from_this(), &timer, what] {
    const auto self = weak.lock();
    if (!self) return;
    timer.reset();
    ((*self).*what)();
  });
}

void CommandRun::cancel(Timer& timer) {
  if (timer) environment_.loop->cancel(*timer);
  timer.reset();
}

void CommandRun::set_timers() {
  if (request_.spec.timeout) {
    call_after(timeout_timer_, *request_.spec.timeout, &CommandRun::on_timeout);
  }
  if (request_.spec.quiet_timeout) {
    last_output_ = started_at_;
    call_after(quiet_timer_, *request_.spec.quiet_timeout, &CommandRun::look_for_quiet);
  }
  if (request_.spec.limits.cpu_seconds > 0) {
    call_after(cpu_timer_, kCpuPause, &CommandRun::look_at_cpu);
  }
}

void CommandRun::on_timeout() { stop(StopReason::kTimedOut); }

/// A command whose output nobody takes is not quiet: it waits.
void CommandRun::look_for_quiet() {
  const SteadyTime now = std::chrono::steady_clock::now();
  const bool held_back =
      room() == 0 || std::any_of(outputs_.begin(), outputs_.end(), [](const Output& output) {
        return output.pipe && output.pipe->waiting() > 0;
      });
  if (held_back) last_output_ = now;
  const auto left =
      std::chrono::ceil<milliseconds>(last_output_ + *request_.spec.quiet_timeout - now);
  if (left.count() <= 0) return stop(StopReason::kQuiet);
  call_after(quiet_timer_, left, &CommandRun::look_for_quiet);
}

/// Of all processes together, which no rlimit can say.
void CommandRun::look_at_cpu() {
  if (!keeper_ || leader_ended_) return;
  const std::chrono::seconds limit(request_.spec.limits.cpu_seconds);
  if (cpu_time_of_tree(keeper_->pid()) >= limit) return stop(StopReason::kCpuLimit);
  call_after(cpu_timer_, kCpuPause, &CommandRun::look_at_cpu);
}

void CommandRun::stop(StopReason reason) {
  if (finished_ || stop_reason_ || leader_ended_) return;
  if (!begun_) return refuse(Error(ErrorCode::kCancelled, "cancelled before it started"));
  stop_reason_ = reason;
  begin_kill();
  rewatch();
}

void CommandRun::terminate() {
  if (!finished_ && !leader_ended_) return stop(StopReason::kCancelled);
  if (keeper_ && !kill_timer_) begin_kill();
}

void CommandRun::begin_kill() {
  kill_pause_ = kFirstKillPause;
  kill_at_ = std::chrono::steady_clock::now() + request_.spec.kill_grace;
  ask_to_end();
}

/// By SIGTERM; as long as the program does not run yet that reaches nobody, and is said again.
void CommandRun::ask_to_end() {
  const bool starts = keeper_ && keeper_->state() == KeeperState::kStarting;
  if (request_.spec.kill_grace.count() > 0) kill_tree(SIGTERM);
  const auto left = std::chrono::ceil<milliseconds>(kill_at_ - std::chrono::steady_clock::now());
  if (starts && left > kFirstKillPause) {
    return call_after(kill_timer_, kFirstKillPause, &CommandRun::ask_to_end);
  }
  call_after(kill_timer_, std::max(left, milliseconds(0)), &CommandRun::kill_again);
}

void CommandRun::kill_tree(int signal) {
  if (!keeper_) return;
  // A command of the keeper's uid may have stopped it, and without it the end is not noticed.
  ::kill(keeper_->pid(), SIGCONT);
  if (signal == SIGKILL && group_) group_->kill();
  signal_tree(keeper_->pid(), signal);
  if (signal == SIGTERM) signal_tree(keeper_->pid(), SIGCONT);
}

/// Until the keeper is reaped: what was forked during one walk is found by the next.
void CommandRun::kill_again() {
  if (!keeper_) return;
  kill_tree(SIGKILL);
  call_after(kill_timer_, kill_pause_, &CommandRun::kill_again);
  kill_pause_ = std::min(2 * kill_pause_, kLongestKillPause);
}

}  // namespace cove::agent

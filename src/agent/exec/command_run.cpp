// How a command runs and ends; how it starts is in command_start.cpp, how it is ended in
// command_stop.cpp.
#include "agent/exec/command_run.hpp"

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

#include <sys/wait.h>

#include "agent/exec/terminal.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

/// A terminal does not say how much it holds; its buffers hold less than this.
constexpr std::size_t kTerminalBytes = 256 * 1024;

bool ended_by(int status, int signal) {
  if (WIFSIGNALED(status)) return WTERMSIG(status) == signal;
  // A shell says 128 + n for a child of its own.
  return WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal;
}

}  // namespace

CommandRun::~CommandRun() {
  for (Timer* timer : {&timeout_timer_, &quiet_timer_, &cpu_timer_, &kill_timer_}) cancel(*timer);
}

void CommandRun::refuse(const Error& error) {
  if (finished_) return;
  finish();
  if (owner_ != nullptr) owner_->on_failed(error);
}

Result<void> CommandRun::signal(std::int32_t number) {
  const pid_t leader = keeper_ && !leader_ended_ ? keeper_->leader() : 0;
  if (leader > 0 && keeper_->state() == KeeperState::kRunning && ::kill(-leader, number) == 0) {
    return ok();
  }
  return Error(ErrorCode::kNotFound, "the command does not run");
}

Result<void> CommandRun::resize(TerminalSize size) {
  if (!request_.spec.terminal) {
    return Error(ErrorCode::kFailedPrecondition, "the command has no terminal");
  }
  if (!terminal_ || finished_) return Error(ErrorCode::kNotFound, "the command does not run");
  if (size.rows == 0 || size.columns == 0) {
    return Error(ErrorCode::kInvalidArgument, "a terminal has at least one row and one column");
  }
  return resize_terminal(*terminal_, size);
}

// Input

void CommandRun::take_arguments(ByteView bytes) {
  arguments_.insert(arguments_.end(), bytes.begin(), bytes.end());
  if (!begun_ && arguments_.size() >= request_.argument_bytes) begin();
}

void CommandRun::write_input(ByteView bytes) {
  if (!begun_) {
    early_input_.insert(early_input_.end(), bytes.begin(), bytes.end());
  } else if (stdin_) {
    stdin_->write(bytes);
  } else {
    on_input_refused();
  }
}

void CommandRun::on_input_used(std::uint64_t bytes) {
  if (owner_ != nullptr) owner_->on_input_used(bytes);
}

void CommandRun::on_input_refused() {
  if (owner_ != nullptr) owner_->on_input_refused();
}

void CommandRun::end_input() {
  input_ended_ = true;
  if (stdin_) stdin_->finish();
}

// Output

/// What nobody waits for any more is read and dropped, or the rest of the tree would wait.
std::size_t CommandRun::room() const {
  if (finished_ || owner_ == nullptr) return kReadBytes;
  return std::min(kReadBytes, owner_->room_for_output());
}

void CommandRun::rewatch() {
  const bool wanted = room() > 0;
  for (auto& output : outputs_) {
    if (output.pipe) output.pipe->watch(wanted);
  }
}

void CommandRun::read_output(Output& output) {
  const auto self = shared_from_this();
  std::array<char, kReadBytes> buffer;
  const std::size_t most = room();
  if (most == 0) return rewatch();
  const std::size_t bytes = output.pipe->read(buffer.data(), most);
  if (bytes > 0) take_output(output, std::string_view(buffer.data(), bytes));
  rewatch();
}

void CommandRun::take_output(Output& output, std::string_view bytes) {
  if (finished_) return;  // of a process that goes on in the background
  output.total += bytes.size();
  if (quiet_timer_) last_output_ = std::chrono::steady_clock::now();
  if (owner_ != nullptr) owner_->on_output(output.channel, bytes);
  const std::uint64_t total = outputs_[0].total + outputs_[1].total;
  if (total > request_.spec.output.max_total_bytes) stop(StopReason::kOutputLimit);
}

/// Takes what is in the pipe at this moment and no more: something in the background may write for
/// ever.
void CommandRun::drain(Output& output) {
  if (!output.pipe) return;
  std::array<char, kReadBytes> buffer;
  std::size_t left = request_.spec.terminal ? kTerminalBytes : output.pipe->waiting();
  while (left > 0) {
    const std::size_t bytes = output.pipe->read(buffer.data(), std::min(left, buffer.size()));
    if (bytes == 0) return;
    left -= bytes;
    take_output(output, std::string_view(buffer.data(), bytes));
  }
}

// The end

void CommandRun::on_notice() {
  if (!keeper_) return;
  const auto self = shared_from_this();
  const KeeperState state = keeper_->state();
  if (state != KeeperState::kStarting) handed_.clear();
  if (state == KeeperState::kFailed) return refuse(start_error());
  const bool runs = state == KeeperState::kRunning || state == KeeperState::kEnded;
  if (runs && !announced_) {
    announced_ = true;
    if (owner_ != nullptr && !finished_) owner_->on_running();
  }
  if (state == KeeperState::kEnded && !leader_ended_) on_leader_ended();
}

void CommandRun::on_leader_ended() {
  leader_ended_ = true;
  ended_at_ = std::chrono::steady_clock::now();
  wait_status_ = keeper_->wait_status();
  for (auto& output : outputs_) drain(output);
  // A tree that is being killed counts as ended when nothing of it is left.
  if (!stop_reason_) complete();
}

void CommandRun::on_keeper_reaped(bool by_itself) {
  const auto self = shared_from_this();
  on_notice();
  if (!leader_ended_ && !finished_) {
    // The keeper itself was killed, which kills the command's first process too.
    leader_ended_ = true;
    ended_at_ = std::chrono::steady_clock::now();
    wait_status_ = SIGKILL;
  }
  for (auto& output : outputs_) drain(output);
  if (!finished_) complete();
  // One that was killed may have left a child between clone and exec, which still runs in this
  // memory: it is given up for ever.
  if (!by_itself) [[maybe_unused]]
    Keeper* const given_up = keeper_.release();
  keeper_.reset();
  cancel(kill_timer_);
  stdin_.reset();
  for (auto& output : outputs_) output.pipe.reset();
  group_.reset();
}

void CommandRun::complete() {
  RunEnd end;
  end.outcome = outcome();
  end.duration = std::chrono::duration_cast<std::chrono::microseconds>(ended_at_ - started_at_);
  end.usage = usage();
  finish();
  if (owner_ != nullptr) owner_->on_ended(end);
}

void CommandRun::finish() {
  finished_ = true;
  for (Timer* timer : {&timeout_timer_, &quiet_timer_, &cpu_timer_}) cancel(*timer);
  stdin_.reset();
  terminal_.reset();
  // A terminal hangs up. What lives on behind a pipe may write on: that is read and dropped until
  // its end.
  if (request_.spec.terminal) outputs_[0].pipe.reset();
  rewatch();
}

Outcome CommandRun::outcome() const {
  if (stop_reason_ == StopReason::kTimedOut) return TimedOut{};
  if (stop_reason_ == StopReason::kQuiet) return TimedOut{true};
  if (stop_reason_ == StopReason::kCancelled) return Cancelled{};
  if (stop_reason_ == StopReason::kOutputLimit) return OutputLimitReached{};
  if (stop_reason_ == StopReason::kCpuLimit) return CpuLimitReached{};
  if (died_for_memory()) return OutOfMemory{};
  if (request_.spec.limits.cpu_seconds > 0 && ended_by(wait_status_, SIGXCPU)) {
    return CpuLimitReached{};
  }
  if (WIFSIGNALED(wait_status_)) return Signaled{WTERMSIG(wait_status_)};
  return Exited{WEXITSTATUS(wait_status_)};
}

bool CommandRun::died_for_memory() const {
  const bool succeeded = WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 0;
  // Its own group counts its own dead only.
  if (group_ && !succeeded && group_->oom_kills() > 0) return true;
  return ended_by(wait_status_, SIGKILL) &&
         read_oom_kills(environment_.oom_counter_fd) > oom_kills_before_;
}

ResourceUsage CommandRun::usage() const {
  ResourceUsage usage;
  if (!keeper_) return usage;
  // While its keeper lives on, what it counted until the command's end is what stands still.
  const bool ended = keeper_->state() == KeeperState::kEnded;
  const SpawnUsage used = stop_reason_ ? keeper_->whole_usage()
                          : ended      ? keeper_->usage()
                                       : SpawnUsage();
  usage.peak_memory_bytes = used.peak_bytes;
  usage.user_cpu = std::chrono::microseconds(used.user_us);
  usage.system_cpu = std::chrono::microseconds(used.system_us);
  if (group_) {
    usage.peak_memory_bytes = group_->peak_memory();
    usage.best_effort = false;
  }
  return usage;
}

}  // namespace cove::agent

// How a command runs and ends; how it starts is in command_start.cpp.
#include "agent/exec/command.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <sys/wait.h>

#include "agent/exec/process_tree.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::chrono::seconds kLostGrace{5};
constexpr std::chrono::milliseconds kFirstKillPause{2};
constexpr std::chrono::milliseconds kLongestKillPause{250};

ByteView as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::size_t Command::kept_bytes() const noexcept {
  std::size_t bytes = answer_.size();
  for (const auto& piece : pieces_) bytes += piece.bytes.size();
  return bytes;
}

void Command::attach(StreamRef stream, std::uint64_t credit) {
  if (lost_timer_) environment_.loop->cancel(*lost_timer_);
  lost_timer_.reset();
  if (stream_.is_open()) {
    stream_.fail(Error(ErrorCode::kConflict, "the command is followed by another call now"));
  }
  stream_ = std::move(stream);
  credit_ = wire::SendWindow(credit);
  if (!request_.streamed) next_piece_ = piece_offset_ = 0;
  announced_ = false;
  if (!begun_) return;
  on_notice();
  rewatch();
  pump();
}

bool Command::on_data(wire::Channel channel, ByteView bytes) {
  if (!input_.receive(bytes.size())) return false;
  if (channel == wire::Channel::kArguments) {
    arguments_.insert(arguments_.end(), bytes.begin(), bytes.end());
    stream_.send_credit(input_.consume(bytes.size()));
    if (!begun_ && arguments_.size() >= request_.argument_bytes) begin();
    return true;
  }
  if (channel != wire::Channel::kMain) return false;
  if (!begun_) {
    early_stdin_.insert(early_stdin_.end(), bytes.begin(), bytes.end());
  } else if (stdin_) {
    stdin_->write(bytes);
  } else {
    stream_.send_credit(input_.consume(bytes.size()));
  }
  return true;
}

void Command::on_end(wire::Channel channel) {
  if (channel != wire::Channel::kMain) return;
  stdin_ended_ = true;
  if (stdin_) stdin_->finish();
}

void Command::on_credit(std::uint64_t bytes) {
  credit_.grant(bytes);
  rewatch();
  pump();
}

void Command::on_cancel(const wire::Cancel& cancel) {
  if (cancel.discard) {
    discard_ = true;
    if (request_.streamed) pieces_.clear();
  }
  if (!begun_) return fail(Error(ErrorCode::kCancelled, "cancelled before it started"));
  if (!leader_ended_) stop(cancel.timed_out ? StopReason::kTimedOut : StopReason::kCancelled);
  rewatch();
  pump();
}

void Command::on_lost() {
  stream_ = StreamRef();
  if (finished_) return;
  if (!begun_) return fail(Error(ErrorCode::kCancelled, "the connection ended before it started"));
  lost_timer_ = environment_.loop->call_after(kLostGrace, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->lost_timer_.reset();
    self->discard_ = self->request_.streamed;
    if (!self->leader_ended_) self->stop(StopReason::kCancelled);
    self->rewatch();
    self->pump();
  });
}

Result<void> Command::signal(std::int32_t number) {
  const pid_t leader = keeper_ && !leader_ended_ ? keeper_->leader() : 0;
  if (leader > 0 && keeper_->state() == KeeperState::kRunning && ::kill(-leader, number) == 0) {
    return ok();
  }
  return Error(ErrorCode::kNotFound, "the command does not run");
}

// Output

bool Command::wants_output() const {
  if (discard_ || !request_.streamed || finished_) return true;
  return credit_.available() > 0 && stream_.has_room() && pieces_.empty();
}

void Command::rewatch() {
  const bool wanted = wants_output();
  for (auto& output : outputs_) {
    if (output.pipe) output.pipe->watch(wanted);
  }
}

void Command::read_output(Output& output) {
  const auto self = shared_from_this();
  std::array<char, kReadBytes> buffer;
  std::size_t room = buffer.size();
  if (!wants_output()) return rewatch();
  const bool forwards = request_.streamed && !discard_ && !finished_;
  if (forwards) room = std::min<std::size_t>(room, credit_.available());
  const std::size_t bytes = output.pipe->read(buffer.data(), room);
  if (bytes > 0) take_output(output, std::string_view(buffer.data(), bytes));
  if (!finished_) rewatch();
}

void Command::take_output(Output& output, std::string_view bytes) {
  if (finished_) return;  // of a process that goes on in the background
  output.total += bytes.size();
  if (!request_.streamed) {
    output.kept.append(bytes);
  } else if (!discard_) {
    pieces_.push_back({output.channel, std::string(bytes)});
    pump();
  }
  const std::uint64_t total = outputs_[0].total + outputs_[1].total;
  if (total > request_.spec.output.max_total_bytes && !leader_ended_) {
    discard_ = discard_ || request_.streamed;
    stop(StopReason::kOutputLimit);
  }
}

/// Takes what is in the pipe at this moment and no more: something in the background may write for
/// ever.
void Command::drain(Output& output) {
  if (!output.pipe) return;
  std::array<char, kReadBytes> buffer;
  std::size_t left = output.pipe->waiting();
  while (left > 0) {
    const std::size_t bytes = output.pipe->read(buffer.data(), std::min(left, buffer.size()));
    if (bytes == 0) return;
    left -= bytes;
    take_output(output, std::string_view(buffer.data(), bytes));
  }
}

// The end

void Command::on_notice() {
  if (!keeper_) return;
  const KeeperState state = keeper_->state();
  if (state != KeeperState::kStarting) handed_.clear();
  if (state == KeeperState::kFailed && !finished_) fail(start_error());
  if (state == KeeperState::kRunning && request_.streamed && !announced_) {
    announced_ = true;
    stream_.send_event(wire::encode_nothing());
  }
  if (state == KeeperState::kEnded && !leader_ended_) {
    if (request_.streamed && !announced_) stream_.send_event(wire::encode_nothing());
    announced_ = true;
    on_leader_ended();
  }
}

void Command::on_leader_ended() {
  leader_ended_ = true;
  ended_at_ = std::chrono::steady_clock::now();
  wait_status_ = keeper_->wait_status();
  for (auto& output : outputs_) drain(output);
  // A tree that is being killed counts as ended when nothing of it is left.
  if (!stop_reason_) complete();
}

void Command::on_keeper_reaped(bool by_itself) {
  on_notice();
  if (!leader_ended_ && !finished_) {
    // The keeper itself was killed, which kills the command's first process too.
    leader_ended_ = true;
    ended_at_ = std::chrono::steady_clock::now();
    wait_status_ = SIGKILL;
  }
  // One that was killed may have left a child between clone and exec, which still runs in this
  // memory: it is given up for ever.
  if (!by_itself) [[maybe_unused]]
    Keeper* const given_up = keeper_.release();
  keeper_.reset();
  if (kill_timer_) environment_.loop->cancel(*kill_timer_);
  kill_timer_.reset();
  for (auto& output : outputs_) drain(output);
  if (!finished_) complete();
  release_pipes();
}

Outcome Command::outcome() const {
  if (stop_reason_ == StopReason::kTimedOut) return TimedOut{};
  if (stop_reason_ == StopReason::kCancelled) return Cancelled{};
  if (stop_reason_ == StopReason::kOutputLimit) return OutputLimitReached{};
  const bool killed = WIFSIGNALED(wait_status_) && WTERMSIG(wait_status_) == SIGKILL;
  // A shell says 137 for a child of its own that was killed.
  const bool told = WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 128 + SIGKILL;
  if ((killed || told) && read_oom_kills(environment_.oom_counter_fd) > oom_kills_before_) {
    return OutOfMemory{};
  }
  if (WIFSIGNALED(wait_status_)) return Signaled{WTERMSIG(wait_status_)};
  return Exited{WEXITSTATUS(wait_status_)};
}

wire::StreamCounts Command::keep_pieces(Output& output) {
  if (request_.streamed) return {0, 0, output.total, 0, {}};
  StreamOutput kept = output.kept.take();
  const wire::StreamCounts counts{
      kept.head.size(), kept.tail.size(), kept.total_bytes, kept.dropped_bytes, {}};
  for (auto* bytes : {&kept.head, &kept.tail}) {
    if (!bytes->empty()) pieces_.push_back({output.channel, std::move(*bytes)});
  }
  return counts;
}

void Command::complete() {
  wire::ExecReply reply{.outcome = outcome()};
  reply.duration = std::chrono::duration_cast<std::chrono::microseconds>(ended_at_ - started_at_);
  reply.out = keep_pieces(outputs_[0]);
  reply.err = keep_pieces(outputs_[1]);
  finish(wire::encode_exec_reply(reply), false);
}

void Command::fail(const Error& error) {
  pieces_.clear();
  finish(wire::encode_error(error), true);
}

void Command::finish(Bytes payload, bool failed) {
  finished_ = true;
  answer_ = std::move(payload);
  answer_failed_ = failed;
  if (timeout_timer_) environment_.loop->cancel(*timeout_timer_);
  timeout_timer_.reset();
  stdin_.reset();
  // What lives on in the background may write on: it is read and dropped until its end.
  rewatch();
  pump();
  owner_.on_finished(*this);
}

void Command::pump() {
  while (next_piece_ < pieces_.size() && stream_.is_open()) {
    Piece& piece = pieces_[next_piece_];
    std::size_t bytes = std::min(piece.bytes.size() - piece_offset_, kReadBytes);
    if (request_.streamed) bytes = std::min<std::size_t>(bytes, credit_.available());
    if (bytes == 0 || !stream_.has_room()) return;
    stream_.send_data(piece.channel,
                      as_bytes(std::string_view(piece.bytes).substr(piece_offset_, bytes)));
    if (request_.streamed) credit_.spend(bytes);
    piece_offset_ += bytes;
    if (piece_offset_ < piece.bytes.size()) continue;
    piece_offset_ = 0;
    if (request_.streamed) {
      pieces_.pop_front();
    } else {
      ++next_piece_;
    }
  }
  if (!finished_) return rewatch();
  if (next_piece_ < pieces_.size() || !stream_.is_open()) return;
  const StreamRef stream = std::exchange(stream_, StreamRef());
  if (answer_failed_) {
    stream.fail_with(answer_);
  } else {
    stream.respond(answer_);
  }
}

// Stopping

void Command::stop(StopReason reason) {
  if (finished_ || stop_reason_ || leader_ended_) return;
  stop_reason_ = reason;
  begin_kill();
}

void Command::terminate() {
  if (!finished_ && !leader_ended_) return stop(StopReason::kCancelled);
  if (!kill_timer_) begin_kill();
}

void Command::begin_kill() {
  kill_pause_ = kFirstKillPause;
  if (request_.spec.kill_grace.count() > 0) kill_tree(SIGTERM);
  kill_timer_ = environment_.loop->call_after(request_.spec.kill_grace, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->kill_again();
  });
}

void Command::kill_tree(int signal) {
  if (!keeper_) return;
  signal_tree(keeper_->pid(), signal);
  if (signal == SIGTERM) signal_tree(keeper_->pid(), SIGCONT);
}

/// Until the keeper is reaped: what was forked during one walk is found by the next.
void Command::kill_again() {
  kill_timer_.reset();
  if (!keeper_) return;
  kill_tree(SIGKILL);
  kill_timer_ = environment_.loop->call_after(kill_pause_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->kill_again();
  });
  kill_pause_ = std::min(2 * kill_pause_, kLongestKillPause);
}

void Command::release_pipes() {
  stdin_.reset();
  for (auto& output : outputs_) output.pipe.reset();
}

}  // namespace cove::agent

#include "agent/exec/command.hpp"

#include <algorithm>
#include <utility>

#include "base/text/hex.hpp"
#include "base/text/utf8.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

ByteView as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

Command::Command(const CommandEnvironment& environment, Owner& owner, const CommandName& name,
                 wire::ExecRequest request)
    : environment_(environment),
      owner_(owner),
      name_(name),
      outputs_{{{wire::Channel::kOut, wire::KeptOutput(request.spec.output), nullptr},
                {wire::Channel::kErr, wire::KeptOutput(request.spec.output), nullptr}}} {
  run_ = std::make_shared<CommandRun>(environment, *this, name.id, std::move(request));
}

Command::~Command() {
  run_->disown();
  run_->rewatch();
  if (lost_timer_) environment_.loop->cancel(*lost_timer_);
}

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
  if (!is_streamed()) next_piece_ = piece_offset_ = 0;
  discard_ = false;
  if (runs_) announce();
  run_->rewatch();
  pump();
}

bool Command::on_data(wire::Channel channel, ByteView bytes) {
  if (!input_.receive(bytes.size())) return false;
  if (channel == wire::Channel::kArguments) {
    stream_.send_credit(input_.consume(bytes.size()));
    run_->take_arguments(bytes);
    return true;
  }
  if (channel != wire::Channel::kMain) return false;
  run_->write_input(bytes);
  return true;
}

void Command::on_end(wire::Channel channel) {
  if (channel == wire::Channel::kMain) run_->end_input();
}

void Command::on_credit(std::uint64_t bytes) {
  credit_.grant(bytes);
  run_->rewatch();
  pump();
}

void Command::on_cancel(const wire::Cancel& cancel) {
  const auto self = shared_from_this();
  if (cancel.discard) {
    discard_ = true;
    if (is_streamed()) pieces_.clear();
  }
  run_->stop(cancel.timed_out ? CommandRun::StopReason::kTimedOut
                              : CommandRun::StopReason::kCancelled);
  run_->rewatch();
  pump();
}

void Command::on_lost() {
  const auto self = shared_from_this();
  stream_ = StreamRef();
  if (is_finished()) return;
  if (!run_->has_begun()) {
    return run_->refuse(Error(ErrorCode::kCancelled, "the connection ended before it started"));
  }
  const auto& grace = run_->request().spec.orphan_grace;
  if (!grace) {
    // Nobody may come back, and it is to go on: what it writes cannot wait.
    discard_ = is_streamed();
    return run_->rewatch();
  }
  lost_timer_ = environment_.loop->call_after(*grace, [weak = weak_from_this()] {
    const auto command = weak.lock();
    if (!command) return;
    command->lost_timer_.reset();
    command->discard_ = command->is_streamed();
    command->run_->stop(CommandRun::StopReason::kCancelled);
    command->run_->rewatch();
    command->pump();
  });
}

void Command::on_running() {
  runs_ = true;
  announce();
}

void Command::announce() {
  if (is_streamed()) stream_.send_event(wire::encode_nothing());
}

void Command::on_input_used(std::uint64_t bytes) { stream_.send_credit(input_.consume(bytes)); }

void Command::on_input_refused() { stream_.send_end(wire::Channel::kMain); }

// Output

std::size_t Command::room_for_output() {
  if (discard_ || !is_streamed()) return kReadBytes;
  if (!stream_.has_room() || !pieces_.empty()) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(credit_.available(), kReadBytes));
}

void Command::on_output(wire::Channel channel, std::string_view bytes) {
  Output& output = outputs_[channel == wire::Channel::kErr ? 1 : 0];
  output.total += bytes.size();
  if (!is_streamed() || run_->request().spec.output.spill) keep(output, bytes);
  if (!is_streamed()) return;
  if (discard_) {
    output.lost += bytes.size();
    return;
  }
  pieces_.push_back({channel, std::string(bytes)});
  pump();
}

void Command::keep(Output& output, std::string_view bytes) {
  const bool spills = run_->request().spec.output.spill && !output.spill_failed;
  const bool was_whole = output.kept.is_whole();
  if (spills && !output.spill && was_whole) {
    const std::uint64_t limit =
        run_->request().spec.output.head_bytes + run_->request().spec.output.tail_bytes;
    // From the first byte that has to go, everything is in the file.
    if (output.total > limit) open_spill(output, output.kept.whole());
  }
  if (output.spill) output.spill->append(bytes);
  output.kept.append(bytes);
}

void Command::open_spill(Output& output, const std::string& before) {
  const char* const ending = output.channel == wire::Channel::kErr ? ".err" : ".out";
  auto file = environment_.spill->create(base::to_hex(name_.id) + ending);
  output.spill_failed = !file;
  if (!file) return;
  output.spill = *std::move(file);
  output.spill->append(before);
}

/// Lines are counted at the end only: what they leave out is spilled then, and so is what does not
/// fit once each byte that is no UTF-8 is marked by four, as it is where it is shown as text.
wire::StreamCounts Command::take_kept(Output& output) {
  const bool spills = run_->request().spec.output.spill && !output.spill_failed;
  std::string whole;
  if (spills && !output.spill && output.kept.is_whole()) whole = output.kept.whole();
  StreamOutput kept = output.kept.take();
  const OutputLimits& limits = run_->request().spec.output;
  const bool is_left_out = kept.dropped_bytes > 0 || (!is_streamed() && !base::is_utf8(whole) &&
                                                      base::marked_utf8(whole).size() >
                                                          limits.head_bytes + limits.tail_bytes);
  if (!whole.empty() && is_left_out) open_spill(output, whole);
  wire::StreamCounts counts{kept.head.size(), kept.tail.size(), output.total, kept.dropped_bytes,
                            output.spill ? output.spill->path() : std::string()};
  output.spill.reset();
  if (is_streamed()) {
    counts.head_bytes = counts.tail_bytes = 0;
    counts.dropped_bytes = output.lost;
    return counts;
  }
  for (auto* bytes : {&kept.head, &kept.tail}) {
    if (!bytes->empty()) pieces_.push_back({output.channel, std::move(*bytes)});
  }
  return counts;
}

// The end

void Command::on_ended(const RunEnd& end) {
  wire::ExecReply reply{.outcome = end.outcome};
  reply.duration = end.duration;
  reply.usage = end.usage;
  reply.out = take_kept(outputs_[0]);
  reply.err = take_kept(outputs_[1]);
  finish(wire::encode_exec_reply(reply), false);
}

void Command::on_failed(const Error& error) {
  pieces_.clear();
  finish(wire::encode_error(error), true);
}

void Command::finish(Bytes payload, bool failed) {
  answer_ = std::move(payload);
  answer_failed_ = failed;
  if (lost_timer_) environment_.loop->cancel(*lost_timer_);
  lost_timer_.reset();
  pump();
  owner_.on_finished(*this);
}

/// False: there is no room for more of it now.
bool Command::send_piece(Piece& piece) {
  while (piece_offset_ < piece.bytes.size()) {
    std::size_t bytes = std::min(piece.bytes.size() - piece_offset_, kReadBytes);
    if (is_streamed()) bytes = std::min<std::size_t>(bytes, credit_.available());
    if (bytes == 0 || !stream_.has_room()) return false;
    stream_.send_data(piece.channel,
                      as_bytes(std::string_view(piece.bytes).substr(piece_offset_, bytes)));
    if (is_streamed()) credit_.spend(bytes);
    piece_offset_ += bytes;
  }
  piece_offset_ = 0;
  return true;
}

void Command::pump() {
  while (next_piece_ < pieces_.size() && stream_.is_open()) {
    if (!send_piece(pieces_[next_piece_])) return;
    if (is_streamed()) {
      pieces_.pop_front();
    } else {
      ++next_piece_;
    }
  }
  if (answer_.empty()) return run_->rewatch();
  if (next_piece_ < pieces_.size() || !stream_.is_open()) return;
  const StreamRef stream = std::exchange(stream_, StreamRef());
  if (answer_failed_) {
    stream.fail_with(answer_);
  } else {
    stream.respond(answer_);
  }
}

}  // namespace cove::agent

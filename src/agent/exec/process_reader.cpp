#include "agent/exec/process_reader.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "wire/command_reply.hpp"
#include "wire/reply.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

ByteView as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

wire::Channel channel_of(OutputStream stream) {
  return stream == OutputStream::kErr ? wire::Channel::kErr : wire::Channel::kOut;
}

}  // namespace

Attachment::Attachment(std::shared_ptr<BackgroundProcess> process,
                       const wire::AttachRequest& request, StreamRef stream)
    : process_(std::move(process)),
      writer_(std::make_shared<BackgroundProcess::Writer>()),
      credit_(request.credit),
      places_{{{OutputStream::kOut, wire::Channel::kOut, request.from.out_offset, 0},
               {OutputStream::kErr, wire::Channel::kErr, request.from.err_offset, 0}}} {
  writer_->stream = std::move(stream);
  if (!request.from.only_new) return;
  for (Place& place : places_) place.offset = process_->output(place.stream).total();
}

void Attachment::begin() {
  writer_->stream.send_event(wire::encode_process_info(process_->info()));
  pump();
}

bool Attachment::on_data(wire::Channel channel, ByteView bytes) {
  return channel == wire::Channel::kMain && process_->write_input(writer_, bytes);
}

void Attachment::on_end(wire::Channel channel) {
  if (channel == wire::Channel::kMain) process_->run().end_input();
}

void Attachment::on_credit(std::uint64_t bytes) {
  credit_.grant(bytes);
  pump();
}

/// Who only lets go does not end the process.
void Attachment::on_cancel(const wire::Cancel& cancel) {
  const auto self = shared_from_this();
  if (cancel.discard) {
    writer_->stream.fail(Error(ErrorCode::kCancelled, "detached"));
    return;
  }
  process_->run().stop(cancel.timed_out ? CommandRun::StopReason::kTimedOut
                                        : CommandRun::StopReason::kCancelled);
}

void Attachment::on_lost() { writer_->stream = StreamRef(); }

/// One piece of each stream in turn, so that neither holds the other up.
void Attachment::pump() {
  const auto self = shared_from_this();
  bool moved = true;
  while (moved && writer_->stream.is_open()) {
    moved = false;
    for (Place& place : places_) moved = send_some(place) || moved;
  }
  finish();
}

bool Attachment::send_some(Place& place) {
  const std::size_t most =
      static_cast<std::size_t>(std::min<std::uint64_t>(credit_.available(), kPieceBytes));
  if (most == 0 || !writer_->stream.has_room()) return false;
  const ProcessOutput& output = process_->output(place.stream);
  // An offset that is still to come is waited for.
  if (place.offset >= output.total()) return false;
  const auto slice = output.read(place.offset, most);
  place.gone += slice.offset - place.offset;
  place.offset = slice.offset + slice.bytes.size();
  if (slice.bytes.empty()) return false;
  writer_->stream.send_data(place.channel, as_bytes(slice.bytes));
  credit_.spend(slice.bytes.size());
  return true;
}

void Attachment::finish() {
  auto reply = process_->end();
  if (!reply || !writer_->stream.is_open()) return;
  for (const Place& place : places_) {
    if (place.offset < process_->output(place.stream).total()) return;
  }
  reply->out.dropped_bytes = places_[0].gone;
  reply->err.dropped_bytes = places_[1].gone;
  writer_->stream.respond(wire::encode_exec_reply(*reply));
}

SliceWait::SliceWait(EventLoop& loop, std::shared_ptr<BackgroundProcess> process,
                     const OutputRequest& range, StreamRef stream)
    : loop_(loop), process_(std::move(process)), range_(range), stream_(std::move(stream)) {}

SliceWait::~SliceWait() { stop(); }

bool SliceWait::begin() {
  answer(range_.wait_for.count() == 0);
  if (!stream_.is_open()) return true;
  timer_ = loop_.call_after(range_.wait_for, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->timer_.reset();
    self->answer(true);
  });
  return false;
}

void SliceWait::stop() {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
}

void SliceWait::on_cancel(const wire::Cancel&) {
  const auto self = shared_from_this();
  stop();
  stream_.fail(Error(ErrorCode::kCancelled, "cancelled"));
}

void SliceWait::answer(bool in_any_case) {
  const auto self = shared_from_this();
  if (!stream_.is_open()) return;
  const ProcessOutput& output = process_->output(range_.stream);
  if (range_.offset > output.total()) {
    stop();
    return stream_.fail(Error(
        ErrorCode::kInvalidArgument,
        "the offset lies past what was written: " + std::to_string(output.total()) + " bytes"));
  }
  if (range_.offset == output.total() && !process_->has_ended() && !in_any_case) return;
  stop();
  const auto slice = output.read(range_.offset, range_.limit);
  wire::SliceReply reply;
  reply.offset = slice.offset;
  reply.gone = slice.offset - range_.offset;
  reply.at_end = process_->has_ended() && slice.offset + slice.bytes.size() == output.total();
  if (!slice.bytes.empty()) stream_.send_data(channel_of(range_.stream), as_bytes(slice.bytes));
  stream_.respond(wire::encode_slice(reply));
}

}  // namespace cove::agent

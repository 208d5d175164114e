#include "agent/server/receiving_stream.hpp"

#include <utility>

namespace cove::agent {
namespace {

/// What an upload that turns out to be a large one has on its way, so that a worker finds the next
/// bytes there when it is done with some: as much as the host reads ahead.
constexpr std::uint64_t kUploadWindow = 1024 * 1024;

}  // namespace

void ReceivingStream::start() {
  parts_.loop.defer([self = shared_from_this()] {
    self->busy_ = false;
    if (self->over_) return self->let_go();
    self->advance();
  });
}

bool ReceivingStream::on_data(wire::Channel channel, ByteView bytes) {
  if (channel != wire::Channel::kMain || ended_ || !window_.receive(bytes.size())) return false;
  if (over_) return true;
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  advance();
  return true;
}

void ReceivingStream::on_end(wire::Channel) {
  ended_ = true;
  advance();
}

void ReceivingStream::on_cancel(const wire::Cancel&) {
  // A commit that is under way answers for itself.
  if (!committing_) end(Error(ErrorCode::kCancelled, "the call was cancelled"));
}

void ReceivingStream::on_lost() {
  if (committing_ || over_) return;
  over_ = true;
  // A repeat over another connection need not wait for what this one still does.
  parts_.outcomes.abandon(id_, Error(ErrorCode::kUnavailable, "the upload's connection ended"));
  if (!busy_) release();
}

/// One unit: all that there is to do now.
void ReceivingStream::advance() {
  if (busy_ || over_) return;
  if (begun_ && pending_.empty() && !ended_) return;
  busy_ = true;
  committing_ = ended_;
  in_work_ = pending_.size();
  parts_.workers.submit(
      [self = shared_from_this(), bytes = std::exchange(pending_, Bytes())]() -> WorkQueue::Finish {
        auto result = self->work(bytes);
        return [self, result = std::move(result)] { self->on_work(result); };
      });
}

/// On a worker.
Result<void> ReceivingStream::work(ByteView bytes) {
  if (!begun_) COVE_TRY_VOID(consumer_->begin());
  begun_ = true;
  if (!bytes.empty()) COVE_TRY_VOID(consumer_->take(bytes));
  if (!committing_) return ok();
  COVE_TRY(answer_, consumer_->commit());
  return ok();
}

void ReceivingStream::on_work(const Result<void>& result) {
  busy_ = false;
  if (over_) return let_go();
  if (!result) return end(result.error());
  if (committing_) return answer();
  const std::uint64_t credit = window_.consume(in_work_);
  stream_.send_credit(credit + (ended_ ? 0 : window_.widen(kUploadWindow)));
  in_work_ = 0;
  advance();
}

void ReceivingStream::answer() {
  over_ = true;
  parts_.outcomes.finish(id_, {false, std::move(answer_)});
  release();
}

/// Nothing was committed, so a repeat is done anew.
void ReceivingStream::end(const Error& error) {
  if (over_) return;
  over_ = true;
  late_ = error;
  if (!busy_) let_go();
}

void ReceivingStream::let_go() {
  if (late_) parts_.outcomes.abandon(id_, *late_);
  release();
}

/// Lets go of what was done so far; on a worker, since removing a file may last.
void ReceivingStream::release() {
  pending_ = Bytes();
  auto consumer = std::make_shared<std::unique_ptr<Consumer>>(std::move(consumer_));
  if (!*consumer) return;
  parts_.workers.submit([consumer]() -> WorkQueue::Finish {
    consumer->reset();
    return [] {};
  });
}

}  // namespace cove::agent

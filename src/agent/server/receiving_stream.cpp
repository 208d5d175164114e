#include "agent/server/receiving_stream.hpp"

#include <utility>

namespace cove::agent {

void ReceivingStream::start() {
  busy_ = true;
  submit([](ReceivingStream& self) { return self.consumer_->begin(); });
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
  if (!committing_) end(Error(ErrorCode::kUnavailable, "the upload's connection ended"));
}

void ReceivingStream::submit(Step step) {
  workers_.submit([self = shared_from_this(), step = std::move(step)]() -> WorkQueue::Finish {
    auto result = step(*self);
    return [self, result = std::move(result)] { self->on_step(result); };
  });
}

void ReceivingStream::on_step(const Result<void>& result) {
  busy_ = false;
  if (over_) return release();
  if (!result) return end(result.error());
  if (committing_) return answer();
  stream_.send_credit(window_.consume(in_work_));
  in_work_ = 0;
  advance();
}

void ReceivingStream::advance() {
  if (busy_ || over_) return;
  if (!pending_.empty()) {
    busy_ = true;
    in_work_ = pending_.size();
    submit([bytes = std::exchange(pending_, Bytes())](ReceivingStream& self) {
      return self.consumer_->take(bytes);
    });
  } else if (ended_) {
    busy_ = committing_ = true;
    submit([](ReceivingStream& self) -> Result<void> {
      COVE_TRY(self.answer_, self.consumer_->commit());
      return ok();
    });
  }
}

void ReceivingStream::answer() {
  over_ = true;
  outcomes_.finish(id_, {false, std::move(answer_)});
  release();
}

/// Nothing was committed, so a repeat is done anew.
void ReceivingStream::end(const Error& error) {
  if (over_) return;
  over_ = true;
  outcomes_.abandon(id_, error);
  if (!busy_) release();
}

/// Lets go of what was done so far; on a worker, since removing a file may last.
void ReceivingStream::release() {
  pending_ = Bytes();
  auto consumer = std::make_shared<std::unique_ptr<Consumer>>(std::move(consumer_));
  if (!*consumer) return;
  workers_.submit([consumer]() -> WorkQueue::Finish {
    consumer->reset();
    return [] {};
  });
}

}  // namespace cove::agent

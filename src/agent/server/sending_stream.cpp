#include "agent/server/sending_stream.hpp"

#include <algorithm>
#include <utility>

#include "wire/frame.hpp"

namespace cove::agent {

void SendingStream::start() {
  std::optional<Production> made = producer_->produce_at_once(room());
  if (!made) return submit();
  on_production(*std::move(made));
}

void SendingStream::on_credit(std::uint64_t bytes) {
  credit_.grant(bytes);
  advance();
}

void SendingStream::on_cancel(const wire::Cancel&) {
  if (over_) return;
  over_ = true;
  stream_.fail(Error(ErrorCode::kCancelled, "the call was cancelled"));
}

std::size_t SendingStream::room() const {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(credit_.available(), wire::kMaxDataBytes));
}

void SendingStream::submit() {
  busy_ = true;
  workers_.submit([self = shared_from_this(), room = room()]() -> WorkQueue::Finish {
    auto made = std::make_shared<Result<Production>>(self->producer_->produce(room));
    return [self, made] { self->on_production(std::move(*made)); };
  });
}

void SendingStream::advance() {
  if (over_ || busy_ || room() == 0 || !stream_.has_room()) return;
  submit();
}

void SendingStream::on_production(Result<Production> production) {
  busy_ = false;
  if (over_) return;
  if (!production) {
    over_ = true;
    stream_.fail(production.error());
    return;
  }
  if (!production->event.empty()) stream_.send_event(production->event);
  if (!production->data.empty()) {
    stream_.send_data(wire::Channel::kMain, production->data);
    credit_.spend(production->data.size());
  }
  if (production->answer.empty()) return advance();
  over_ = true;
  stream_.respond(production->answer);
}

}  // namespace cove::agent

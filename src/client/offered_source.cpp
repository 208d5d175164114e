#include "client/offered_source.hpp"

#include <utility>

namespace cove::client {
namespace {

Error is_over() {
  return {ErrorCode::kFailedPrecondition, "the upload is over: what ended it, its own answer says"};
}

Error was_finished() {
  return {ErrorCode::kFailedPrecondition, "the upload was finished: nothing can follow"};
}

}  // namespace

Task<Result<Bytes>> OfferedSource::next(const CallContext& call) {
  for (;;) {
    while (!offers_.empty()) {
      Offer offer = std::move(offers_.front());
      offers_.pop_front();
      // Else whoever offered it has given up, and counts on it that nothing of it is written.
      if (offer.taken->complete(ok())) co_return std::move(offer.piece);
    }
    if (is_finished_) co_return Bytes();
    asked_ = Answer::make(gate_->scheduler());
    const std::shared_ptr<Answer> asked = asked_;
    COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(asked, gate_->scheduler(), call));
  }
}

Task<Result<void>> OfferedSource::offer(Bytes piece, const CallContext& call) {
  if (is_over_) co_return is_over();
  if (is_finished_) co_return was_finished();
  if (piece.empty()) co_return ok();
  const std::shared_ptr<Answer> taken = Answer::make(gate_->scheduler());
  offers_.push_back(Offer{std::move(piece), taken});
  wake();
  co_return co_await base::wait_bounded<void>(taken, gate_->scheduler(), call);
}

void OfferedSource::finish() {
  is_finished_ = true;
  wake();
}

void OfferedSource::end() {
  is_over_ = true;
  for (const Offer& offer : std::exchange(offers_, {})) offer.taken->complete(is_over());
}

void OfferedSource::wake() {
  if (const std::shared_ptr<Answer> asked = std::exchange(asked_, nullptr)) asked->complete(ok());
}

}  // namespace cove::client

/// OfferedSource: a byte stream whose pieces are offered from outside, each with an answer once it
/// was taken. On the scheduler only.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include <cove/bytes.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"
#include "client/call_gate.hpp"

namespace cove::client {

class OfferedSource final : public ByteSource {
 public:
  /// The gate's scheduler is asked for inside calls only: after a close there is none.
  explicit OfferedSource(std::shared_ptr<CallGate> gate) : gate_(std::move(gate)) {}

  Task<Result<Bytes>> next(const CallContext& call) override;

  /// Waits until the piece was taken. A piece whose call ends before is not given. An empty one is
  /// nothing. kFailedPrecondition: `finish` or `end` was called.
  Task<Result<void>> offer(Bytes piece, const CallContext& call);

  /// After what was offered comes the end.
  void finish();

  /// Nobody takes pieces any more: those that wait, and later ones, are refused.
  void end();

 private:
  using Answer = base::Completion<Result<void>>;
  struct Offer {
    Bytes piece;
    std::shared_ptr<Answer> taken;
  };

  void wake();

  const std::shared_ptr<CallGate> gate_;
  std::deque<Offer> offers_;
  std::shared_ptr<Answer> asked_;  ///< somebody waits for an offer, or the end
  bool is_finished_ = false;
  bool is_over_ = false;
};

}  // namespace cove::client

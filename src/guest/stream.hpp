/// Stream: the host's end of one request. Lives on the loop's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/scheduler.hpp>
#include <cove/task.hpp>

#include "base/async/completion.hpp"
#include "wire/credit.hpp"
#include "wire/frame.hpp"
#include "wire/request.hpp"

namespace cove::guest {

class Stream {
 public:
  struct Piece {
    wire::Channel channel = wire::Channel::kMain;
    Bytes bytes;
    bool end = false;                   ///< of what is sent: the channel's end
    std::size_t sent = 0;               ///< of what is sent: so much of it is gone
    std::shared_ptr<std::size_t> told;  ///< the same, for whoever waits; may be null
  };

  /// `window`: how many bytes may come before some were used.
  Stream(Scheduler& scheduler, std::uint32_t number, std::uint64_t window)
      : received(window), scheduler_(scheduler), number_(number) {}

  std::uint32_t number() const noexcept { return number_; }

  /// Over: the answer or the error is there and nothing more comes.
  bool is_over() const noexcept { return response.has_value() || error.has_value(); }

  /// Waits until something came, went out or ended. Errors: as of the call.
  Task<Result<void>> changed(const CallContext& call);
  void notify();

  /// The first piece that came. REQUIRES: there is one.
  Piece take_arrived();

  /// Forgets everybody's interest: what comes is dropped.
  bool abandoned = false;
  std::optional<wire::RequestId> collect;  ///< tell the agent when the answer is here
  bool takes_output = false;  ///< what comes is output, on its two channels; else the main one's
  std::deque<Piece> arrived;
  std::optional<Bytes> event;
  std::optional<Bytes> response;
  std::optional<Error> error;
  wire::ReceiveWindow received;

  /// Of a stream that the agent opened.
  struct Asked {
    bool ended = false;     ///< the agent sends no more data
    std::stop_source over;  ///< stops what works for the stream when it is over
  };
  std::optional<Asked> asked;

  std::deque<Piece> outgoing;
  bool ended = false;   ///< the end of the main channel was sent
  bool unread = false;  ///< the agent reads no more of the main channel
  wire::SendWindow credit{wire::kInitialCredit};

 private:
  using Waiter = base::Completion<Result<void>>;

  Scheduler& scheduler_;
  std::uint32_t number_;
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace cove::guest

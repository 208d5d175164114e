/// Payloads that wait until the other side gives credit for them and the connection has room.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include <cove/bytes.hpp>

#include "agent/server/connection.hpp"
#include "wire/credit.hpp"
#include "wire/frame.hpp"

namespace cove::agent {

class PayloadQueue {
 public:
  explicit PayloadQueue(std::uint64_t credit) : credit_(credit) {}

  void grant(std::uint64_t bytes) { credit_.grant(bytes); }

  void push(std::vector<Bytes> payloads) {
    queue_.insert(queue_.end(), std::make_move_iterator(payloads.begin()),
                  std::make_move_iterator(payloads.end()));
  }

  /// Sends what may go now, each payload whole. True: nothing is left.
  bool send(StreamRef& stream) {
    while (!queue_.empty()) {
      const Bytes& payload = queue_.front();
      if (payload.size() > credit_.available() || !stream.has_room()) return false;
      stream.send_data(wire::Channel::kMain, payload);
      credit_.spend(payload.size());
      queue_.pop_front();
    }
    return true;
  }

 private:
  wire::SendWindow credit_;
  std::deque<Bytes> queue_;
};

}  // namespace cove::agent

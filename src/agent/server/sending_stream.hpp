/// SendingStream: gives what a worker produces as data, as fast as the other side gives credit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "agent/loop/work_queue.hpp"
#include "agent/server/connection.hpp"
#include "wire/credit.hpp"

namespace cove::agent {

/// What one short unit of work produced. Any part may be missing.
struct Production {
  Bytes event;  ///< of the first unit: what is said before the data
  Bytes data;
  Bytes answer;  ///< not empty: the stream is over
};

/// Works on a worker thread, one unit at a time.
class Producer {
 public:
  virtual ~Producer() = default;

  /// All there is, where it is made without any wait; none: produce() is to be called, as if this
  /// had not been. On the loop's thread, which has no time.
  virtual std::optional<Production> produce_at_once(std::size_t /*room*/) { return std::nullopt; }

  /// Goes on: at most `room` bytes of data, which is 0 at most at the first call.
  virtual Result<Production> produce(std::size_t room) = 0;
};

class SendingStream final : public StreamHandler,
                            public std::enable_shared_from_this<SendingStream> {
 public:
  SendingStream(WorkQueue& workers, StreamRef stream, std::uint64_t credit,
                std::unique_ptr<Producer> producer)
      : workers_(workers),
        stream_(std::move(stream)),
        credit_(credit),
        producer_(std::move(producer)) {}

  void start();

  void on_credit(std::uint64_t bytes) override;
  void on_room() override { advance(); }
  void on_cancel(const wire::Cancel& cancel) override;
  void on_lost() override { over_ = true; }

 private:
  std::size_t room() const;
  void submit();
  void advance();
  void on_production(Result<Production> production);

  WorkQueue& workers_;
  StreamRef stream_;
  wire::SendWindow credit_;
  std::unique_ptr<Producer> producer_;  // a unit of work keeps this stream, and it, alive
  bool busy_ = false;
  bool over_ = false;
};

}  // namespace cove::agent

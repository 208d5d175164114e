/// ReceivingStream: hands data that comes to a worker, as fast as it takes it, and commits at its
/// end. Whatever ends it before leaves it to its consumer's destructor to change nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "agent/loop/work_queue.hpp"
#include "agent/server/connection.hpp"
#include "agent/server/outcomes.hpp"
#include "wire/credit.hpp"
#include "wire/request.hpp"

namespace cove::agent {

/// Works on a worker thread, one call at a time. Destroyed there too.
class Consumer {
 public:
  virtual ~Consumer() = default;
  virtual Result<void> begin() = 0;
  virtual Result<void> take(ByteView bytes) = 0;

  /// Everything came: gives the answer's payload.
  virtual Result<Bytes> commit() = 0;
};

class ReceivingStream final : public StreamHandler,
                              public std::enable_shared_from_this<ReceivingStream> {
 public:
  struct Parts {
    EventLoop& loop;
    WorkQueue& workers;
    RecentOutcomes& outcomes;
  };

  /// The outcomes wait for `id` already.
  ReceivingStream(Parts parts, const wire::RequestId& id, StreamRef stream,
                  std::unique_ptr<Consumer> consumer)
      : parts_(parts), id_(id), stream_(std::move(stream)), consumer_(std::move(consumer)) {}

  /// Begins after the events at hand: what came together with the request is one unit of work with
  /// it.
  void start();

  bool on_data(wire::Channel channel, ByteView bytes) override;
  void on_end(wire::Channel channel) override;
  void on_cancel(const wire::Cancel& cancel) override;
  void on_lost() override;

 private:
  Result<void> work(ByteView bytes);
  void on_work(const Result<void>& result);
  void advance();
  void answer();
  void end(const Error& error);
  void let_go();
  void release();

  Parts parts_;
  wire::RequestId id_;
  StreamRef stream_;
  std::unique_ptr<Consumer> consumer_;
  wire::ReceiveWindow window_{wire::kInitialCredit};
  Bytes pending_;
  std::uint64_t in_work_ = 0;
  Bytes answer_;
  bool begun_ = false;       // the consumer has begun
  bool busy_ = true;         // a worker has it, or it has not started
  bool ended_ = false;       // everything came
  bool committing_ = false;  // the unit of work at hand is the last one
  bool over_ = false;
  std::optional<Error> late_;  // ends it once the worker has let go: no effect goes on after it
};

/// A repeat of an upload: its answer comes from the first one, its bytes are not needed.
class RepeatedUpload final : public StreamHandler {
 public:
  bool on_data(wire::Channel, ByteView) override { return true; }
};

}  // namespace cove::agent

/// Streams that look at a background process: an attached caller, and one that waits for output.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "agent/exec/background_process.hpp"
#include "agent/loop/event_loop.hpp"
#include "agent/server/connection.hpp"
#include "wire/credit.hpp"
#include "wire/process_request.hpp"

namespace cove::agent {

/// Sends both streams from an offset on, as its credit allows, and at last the end. Where it is so
/// slow that bytes are gone it leaves them out and counts them.
class Attachment final : public StreamHandler,
                         public BackgroundProcess::Reader,
                         public std::enable_shared_from_this<Attachment> {
 public:
  Attachment(std::shared_ptr<BackgroundProcess> process, const wire::AttachRequest& request,
             StreamRef stream);

  /// Says that it follows, and sends what is there.
  void begin();

  bool on_data(wire::Channel channel, ByteView bytes) override;
  void on_end(wire::Channel channel) override;
  void on_credit(std::uint64_t bytes) override;
  void on_cancel(const wire::Cancel& cancel) override;
  void on_room() override { pump(); }
  void on_lost() override;
  void on_change() override { pump(); }

 private:
  struct Place {
    OutputStream stream;
    wire::Channel channel;
    std::uint64_t offset = 0;
    std::uint64_t gone = 0;
  };

  void pump();
  bool send_some(Place& place);
  void finish();

  std::shared_ptr<BackgroundProcess> process_;
  std::shared_ptr<BackgroundProcess::Writer> writer_;
  wire::SendWindow credit_;
  std::array<Place, 2> places_;
};

/// Answers with a slice of output, as soon as there is a byte of it, the end, or the time is over.
class SliceWait final : public StreamHandler,
                        public BackgroundProcess::Reader,
                        public std::enable_shared_from_this<SliceWait> {
 public:
  SliceWait(EventLoop& loop, std::shared_ptr<BackgroundProcess> process, const OutputRequest& range,
            StreamRef stream);
  ~SliceWait() override;

  /// True: answered at once.
  bool begin();

  void on_cancel(const wire::Cancel& cancel) override;
  void on_lost() override { stop(); }
  void on_change() override { answer(false); }

 private:
  void answer(bool in_any_case);
  void stop();

  EventLoop& loop_;
  std::shared_ptr<BackgroundProcess> process_;
  OutputRequest range_;
  StreamRef stream_;
  std::optional<EventLoop::Timer> timer_;
};

}  // namespace cove::agent

// A watch over the wire. While the host takes nothing, nothing is read from inotify either: the
// kernel's queue is bounded, and says when it overflowed.
#include <utility>

#include "agent/server/file_service.hpp"
#include "agent/server/payload_queue.hpp"
#include "agent/watch/directory_watch.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"

namespace cove::agent {

class FileService::WatchStream final : public StreamHandler,
                                       public Watcher,
                                       public std::enable_shared_from_this<WatchStream> {
 public:
  WatchStream(FileService& service, StreamRef stream, std::uint64_t credit)
      : service_(service), stream_(std::move(stream)), payloads_(credit) {}

  void open(const wire::WatchRequest& request) {
    busy_ = true;
    service_.workers_.submit([self = shared_from_this(), request]() -> WorkQueue::Finish {
      auto watch = std::make_shared<Result<std::unique_ptr<DirectoryWatch>>>(
          self->service_.files_of(request.path).begin_watch(request.path, request.options));
      return [self, watch] { self->on_open(std::move(*watch)); };
    });
  }

  void on_ready(std::uint32_t) override {
    service_.loop_.remove(watch_->fd(), this);
    watching_ = false;
    busy_ = true;
    service_.workers_.submit([self = shared_from_this()]() -> WorkQueue::Finish {
      auto events = self->watch_->read();
      return [self, events = std::move(events)] { self->on_events(events); };
    });
  }

  void on_credit(std::uint64_t bytes) override {
    payloads_.grant(bytes);
    advance();
  }
  void on_room() override { advance(); }
  void on_cancel(const wire::Cancel&) override {
    end(Error(ErrorCode::kCancelled, "the call was cancelled"));
  }
  void on_lost() override { end(Error(ErrorCode::kUnavailable, "the watch's connection ended")); }

 private:
  void on_open(Result<std::unique_ptr<DirectoryWatch>> watch) {
    busy_ = false;
    if (watch) watch_ = *std::move(watch);
    if (over_) return release();
    if (!watch) return end(watch.error());
    stream_.send_event(wire::encode_nothing());
    advance();
  }

  void on_events(const Result<std::vector<FileEvent>>& events) {
    busy_ = false;
    if (over_) return release();
    if (!events) return end(events.error());
    payloads_.push(wire::encode_file_events(*events));
    advance();
  }

  void advance() {
    if (over_ || busy_ || !payloads_.send(stream_) || watching_) return;
    watching_ = true;
    if (service_.loop_.add(watch_->fd(), EPOLLIN, this)) return;
    watching_ = false;
    end(Error(ErrorCode::kQuotaExceeded, "the agent has no room for another watch"));
  }

  void end(const Error& error) {
    if (over_) return;
    over_ = true;
    if (watching_) service_.loop_.remove(watch_->fd(), this);
    watching_ = false;
    stream_.fail(error);
    if (!busy_) release();
  }

  /// On a worker: the kernel takes its time to end many watches.
  void release() {
    auto watch = std::make_shared<std::unique_ptr<DirectoryWatch>>(std::move(watch_));
    if (!*watch) return;
    service_.workers_.submit([watch]() -> WorkQueue::Finish {
      watch->reset();
      return [] {};
    });
  }

  FileService& service_;
  StreamRef stream_;
  PayloadQueue payloads_;
  std::unique_ptr<DirectoryWatch> watch_;
  bool watching_ = false;  // the loop tells of what is ready
  bool busy_ = false;      // a worker has it
  bool over_ = false;
};

std::shared_ptr<StreamHandler> FileService::watch(const wire::WatchRequest& request,
                                                  StreamRef stream) {
  auto handler = std::make_shared<WatchStream>(*this, std::move(stream), request.credit);
  handler->open(request);
  return handler;
}

}  // namespace cove::agent

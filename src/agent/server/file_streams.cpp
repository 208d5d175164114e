// The file requests that carry data: each moves in short units of work, so that many share the two
// worker threads, and only as fast as the other side gives credit.
#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include <unistd.h>

#include "agent/server/file_service.hpp"
#include "base/system/system_error.hpp"
#include "wire/credit.hpp"
#include "wire/reply.hpp"

namespace cove::agent {
namespace {

Result<Bytes> read_piece(int fd, std::size_t room) {
  Bytes bytes(room);
  ssize_t got = 0;
  do {
    got = ::read(fd, bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::system_error(errno, "read the file");
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

class FileService::ReadStream final : public StreamHandler,
                                      public std::enable_shared_from_this<ReadStream> {
 public:
  ReadStream(WorkQueue& workers, StreamRef stream, std::uint64_t credit)
      : workers_(workers), stream_(std::move(stream)), credit_(credit) {}

  void open(const Files& files, const wire::ReadRequest& request) {
    workers_.submit([self = shared_from_this(), &files, request]() -> WorkQueue::Finish {
      auto opened =
          std::make_shared<Result<OpenedFile>>(files.open_file(request.path, request.range));
      return [self, opened] { self->on_opened(std::move(*opened)); };
    });
  }

  void on_credit(std::uint64_t bytes) override {
    credit_.grant(bytes);
    advance();
  }
  void on_room() override { advance(); }
  void on_cancel(const wire::Cancel&) override {
    stream_.fail(Error(ErrorCode::kCancelled, "the call was cancelled"));
    over_ = true;
  }
  void on_lost() override { over_ = true; }

 private:
  void on_opened(Result<OpenedFile> opened) {
    if (over_) return;
    if (!opened) return end(opened.error());
    stream_.send_event(wire::encode_opened({opened->info, opened->length}));
    left_ = opened->length;
    fd_ = std::move(opened->fd);
    advance();
  }

  void advance() {
    if (over_ || busy_ || !fd_) return;
    if (left_ == 0) return finish();
    const std::uint64_t room =
        std::min({left_, credit_.available(), std::uint64_t{wire::kMaxDataBytes}});
    if (room == 0 || !stream_.has_room()) return;
    busy_ = true;
    workers_.submit([self = shared_from_this(), room]() -> WorkQueue::Finish {
      auto piece = read_piece(*self->fd_, static_cast<std::size_t>(room));
      return [self, piece = std::move(piece)] { self->on_piece(piece); };
    });
  }

  void on_piece(const Result<Bytes>& piece) {
    busy_ = false;
    if (over_) return;
    if (!piece) return end(piece.error());
    if (piece->empty()) return finish();  // the file became shorter meanwhile
    stream_.send_data(wire::Channel::kMain, *piece);
    credit_.spend(piece->size());
    sent_ += piece->size();
    left_ -= piece->size();
    advance();
  }

  void finish() {
    over_ = true;
    stream_.respond(wire::encode_count({sent_, ""}));
  }

  void end(const Error& error) {
    over_ = true;
    stream_.fail(error);
  }

  WorkQueue& workers_;
  StreamRef stream_;
  wire::SendWindow credit_;
  base::UniqueFd fd_;
  std::uint64_t left_ = 0;
  std::uint64_t sent_ = 0;
  bool busy_ = false;
  bool over_ = false;
};

/// A page of a directory, sent within credit.
class FileService::ListStream final : public StreamHandler,
                                      public std::enable_shared_from_this<ListStream> {
 public:
  ListStream(StreamRef stream, std::uint64_t credit)
      : stream_(std::move(stream)), credit_(credit) {}

  void open(WorkQueue& workers, const Files& files, const wire::ListRequest& request) {
    workers.submit([self = shared_from_this(), &files, request]() -> WorkQueue::Finish {
      const auto page = files.list(request.path, request.options);
      if (!page) return [self, error = page.error()] { self->end(error); };
      return [self, payloads = wire::encode_entries(page->entries), next = page->next,
              count = page->entries.size()] { self->on_page(payloads, {count, next}); };
    });
  }

  void on_credit(std::uint64_t bytes) override {
    credit_.grant(bytes);
    advance();
  }
  void on_room() override { advance(); }
  void on_cancel(const wire::Cancel&) override {
    end(Error(ErrorCode::kCancelled, "the call was cancelled"));
  }
  void on_lost() override { over_ = true; }

 private:
  void on_page(const std::vector<Bytes>& payloads, wire::CountReply reply) {
    payloads_.assign(payloads.begin(), payloads.end());
    reply_ = std::move(reply);
    ready_ = true;
    advance();
  }

  void advance() {
    if (over_ || !ready_) return;
    while (!payloads_.empty()) {
      const Bytes& payload = payloads_.front();
      if (payload.size() > credit_.available() || !stream_.has_room()) return;
      stream_.send_data(wire::Channel::kMain, payload);
      credit_.spend(payload.size());
      payloads_.pop_front();
    }
    over_ = true;
    stream_.respond(wire::encode_count(reply_));
  }

  void end(const Error& error) {
    if (over_) return;
    over_ = true;
    stream_.fail(error);
  }

  StreamRef stream_;
  wire::SendWindow credit_;
  std::deque<Bytes> payloads_;
  wire::CountReply reply_;
  bool ready_ = false;
  bool over_ = false;
};

/// A repeat of an upload: its answer comes from the first one, its bytes are not needed.
class FileService::RepeatedWrite final : public StreamHandler {
 public:
  bool on_data(wire::Channel, ByteView) override { return true; }
};

/// A file that is being replaced: whatever ends it before its commit leaves the old one.
class FileService::WriteStream final : public StreamHandler,
                                       public std::enable_shared_from_this<WriteStream> {
 public:
  WriteStream(FileService& service, const wire::RequestId& id, StreamRef stream)
      : service_(service), id_(id), stream_(std::move(stream)) {}

  void open(const wire::WriteRequest& request) {
    busy_ = true;
    const Files& files = service_.files_;
    submit([&files, request](WriteStream& self) -> Result<void> {
      COVE_TRY(self.writer_, files.begin_write(request.path, request.options));
      return ok();
    });
  }

  bool on_data(wire::Channel channel, ByteView bytes) override {
    if (channel != wire::Channel::kMain || ended_ || !window_.receive(bytes.size())) return false;
    if (over_) return true;
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    advance();
    return true;
  }
  void on_end(wire::Channel) override {
    ended_ = true;
    advance();
  }
  void on_cancel(const wire::Cancel&) override {
    // A commit that is under way answers for itself.
    if (!committing_) end(Error(ErrorCode::kCancelled, "the call was cancelled"));
  }
  void on_lost() override {
    if (!committing_) end(Error(ErrorCode::kUnavailable, "the upload's connection ended"));
  }

 private:
  using Step = std::function<Result<void>(WriteStream&)>;

  void submit(Step step) {
    service_.workers_.submit(
        [self = shared_from_this(), step = std::move(step)]() -> WorkQueue::Finish {
          auto result = step(*self);
          return [self, result = std::move(result)] { self->on_step(result); };
        });
  }

  void on_step(const Result<void>& result) {
    busy_ = false;
    if (over_) return release();
    if (!result) return end(result.error());
    if (committing_) return answer();
    stream_.send_credit(window_.consume(in_work_));
    in_work_ = 0;
    advance();
  }

  void advance() {
    if (busy_ || over_) return;
    if (!pending_.empty()) {
      busy_ = true;
      in_work_ = pending_.size();
      submit([bytes = std::exchange(pending_, Bytes())](WriteStream& self) {
        return self.writer_->write(bytes);
      });
    } else if (ended_) {
      busy_ = committing_ = true;
      submit([](WriteStream& self) -> Result<void> {
        COVE_TRY(self.info_, self.writer_->commit());
        return ok();
      });
    }
  }

  void answer() {
    over_ = true;
    service_.outcomes_.finish(id_, {false, wire::encode_file_info(info_)});
    release();
  }

  /// Nothing was changed, so a repeat is done anew.
  void end(const Error& error) {
    if (over_) return;
    over_ = true;
    service_.outcomes_.abandon(id_, error);
    if (!busy_) release();
  }

  /// Lets go of what was written so far; on a worker, since removing a file may last.
  void release() {
    pending_ = Bytes();
    auto writer = std::make_shared<std::unique_ptr<FileWriter>>(std::move(writer_));
    if (!*writer) return;
    service_.workers_.submit([writer]() -> WorkQueue::Finish {
      writer->reset();
      return [] {};
    });
  }

  FileService& service_;
  wire::RequestId id_;
  StreamRef stream_;
  wire::ReceiveWindow window_{wire::kInitialCredit};
  std::unique_ptr<FileWriter> writer_;
  Bytes pending_;
  std::uint64_t in_work_ = 0;
  FileInfo info_;
  bool busy_ = false;
  bool ended_ = false;
  bool committing_ = false;
  bool over_ = false;
};

std::shared_ptr<StreamHandler> FileService::read(const wire::ReadRequest& request,
                                                 StreamRef stream) {
  auto handler = std::make_shared<ReadStream>(workers_, std::move(stream), request.credit);
  handler->open(files_, request);
  return handler;
}

std::shared_ptr<StreamHandler> FileService::list(const wire::ListRequest& request,
                                                 StreamRef stream) {
  auto handler = std::make_shared<ListStream>(std::move(stream), request.credit);
  handler->open(workers_, files_, request);
  return handler;
}

std::shared_ptr<StreamHandler> FileService::write(const wire::RequestId& id,
                                                  const wire::WriteRequest& request,
                                                  StreamRef stream) {
  if (!outcomes_.begin(id, stream)) return std::make_shared<RepeatedWrite>();
  auto handler = std::make_shared<WriteStream>(*this, id, std::move(stream));
  handler->open(request);
  return handler;
}

}  // namespace cove::agent

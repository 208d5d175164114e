// The file requests that carry data: each moves in short units of work, so that many share the two
// worker threads, and only as fast as the other side gives credit.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/uio.h>
#include <unistd.h>

#include "agent/files/content_type.hpp"
#include "agent/server/file_service.hpp"
#include "agent/server/payload_queue.hpp"
#include "agent/server/receiving_stream.hpp"
#include "agent/server/sending_stream.hpp"
#include "base/system/system_error.hpp"
#include "wire/reply.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMostAtOnce = 64U << 10U;

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

/// A short read of what the kernel has in memory; nothing where it would have to ask the disk.
std::optional<Bytes> read_cached(int fd, std::size_t size) {
  Bytes bytes(size);
  const iovec place{bytes.data(), bytes.size()};
  if (size == 0) return bytes;
  const ssize_t got = ::preadv2(fd, &place, 1, -1, RWF_NOWAIT);
  if (got != static_cast<ssize_t>(size)) return std::nullopt;
  return bytes;
}

/// A file or a range of it. A small one is open, read and over in one unit of work, and in none
/// where the kernel has it in memory.
class FileReading final : public Producer {
 public:
  FileReading(const Files& files, wire::ReadRequest request)
      : files_(files), request_(std::move(request)) {}

  std::optional<Production> produce_at_once(std::size_t room) override {
    const auto file = files_.open_cached_file(request_.path, request_.range);
    if (!file || file->length > std::min(room, kMostAtOnce)) return std::nullopt;
    const bool is_whole = file->length == file->info.size;
    if (!is_whole && (request_.range.offset > 0 || file->length < kSniffBytes)) return std::nullopt;
    std::optional<Bytes> bytes = read_cached(*file->fd, static_cast<std::size_t>(file->length));
    if (!bytes) return std::nullopt;
    const auto head = ByteView(*bytes).first(std::min(bytes->size(), kSniffBytes));
    Production made;
    made.event = wire::encode_opened({file->info, file->length, content_type_of(head)});
    made.answer = wire::encode_count({file->length, ""});
    made.data = *std::move(bytes);
    return made;
  }

  Result<Production> produce(std::size_t room) override {
    Production made;
    const bool is_first = !file_.fd;
    if (is_first) {
      COVE_TRY(file_, files_.open_file(request_.path, request_.range));
      left_ = file_.length;
    }
    COVE_TRY_VOID(read(room, made));
    if (is_first) {
      made.event = wire::encode_opened({file_.info, file_.length, content_type(made.data)});
    }
    if (left_ == 0) made.answer = wire::encode_count({sent_, ""});
    return made;
  }

 private:
  Result<void> read(std::size_t room, Production& made) {
    const std::size_t most = std::min<std::uint64_t>(left_, room);
    if (most == 0) return ok();
    COVE_TRY(made.data, read_piece(*file_.fd, most));
    sent_ += made.data.size();
    left_ -= made.data.size();
    if (made.data.empty()) left_ = 0;  // the file became shorter meanwhile
    return ok();
  }

  std::string content_type(const Bytes& first) const {
    const bool is_head = request_.range.offset == 0 &&
                         (first.size() >= kSniffBytes || first.size() == file_.info.size);
    if (!is_head) return content_type_of(*file_.fd);
    return content_type_of(ByteView(first).first(std::min(first.size(), kSniffBytes)));
  }

  const Files& files_;
  wire::ReadRequest request_;
  OpenedFile file_;
  std::uint64_t left_ = 0;
  std::uint64_t sent_ = 0;
};

/// A file that is being written: whatever ends it before its commit leaves the old one.
class FileWriting final : public Consumer {
 public:
  FileWriting(const Files& files, wire::WriteRequest request)
      : files_(files), request_(std::move(request)) {}

  Result<void> begin() override {
    COVE_TRY(writer_, files_.begin_write(request_.path, request_.options));
    return ok();
  }
  Result<void> take(ByteView bytes) override { return writer_->write(bytes); }
  Result<Bytes> commit() override {
    COVE_TRY(const FileInfo info, writer_->commit());
    return wire::encode_file_info(info);
  }

 private:
  const Files& files_;
  wire::WriteRequest request_;
  std::unique_ptr<FileWriter> writer_;
};

}  // namespace

/// A page of a directory, sent within credit.
class FileService::ListStream final : public StreamHandler,
                                      public std::enable_shared_from_this<ListStream> {
 public:
  ListStream(StreamRef stream, std::uint64_t credit)
      : stream_(std::move(stream)), payloads_(credit) {}

  void open(WorkQueue& workers, const Files& files, const wire::ListRequest& request) {
    workers.submit([self = shared_from_this(), &files, request]() -> WorkQueue::Finish {
      const auto page = files.list(request.path, request.options);
      if (!page) return [self, error = page.error()] { self->end(error); };
      return [self, payloads = wire::encode_entries(page->entries), next = page->next,
              count = page->entries.size()] { self->on_page(payloads, {count, next}); };
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
  void on_lost() override { over_ = true; }

 private:
  void on_page(const std::vector<Bytes>& payloads, wire::CountReply reply) {
    payloads_.push(payloads);
    reply_ = std::move(reply);
    ready_ = true;
    advance();
  }

  void advance() {
    if (over_ || !ready_ || !payloads_.send(stream_)) return;
    over_ = true;
    stream_.respond(wire::encode_count(reply_));
  }

  void end(const Error& error) {
    if (over_) return;
    over_ = true;
    stream_.fail(error);
  }

  StreamRef stream_;
  PayloadQueue payloads_;
  wire::CountReply reply_;
  bool ready_ = false;
  bool over_ = false;
};

std::shared_ptr<StreamHandler> FileService::send(StreamRef stream, std::uint64_t credit,
                                                 std::unique_ptr<Producer> producer) {
  auto handler =
      std::make_shared<SendingStream>(workers_, std::move(stream), credit, std::move(producer));
  handler->start();
  return handler;
}

std::shared_ptr<StreamHandler> FileService::receive(const wire::RequestId& id, StreamRef stream,
                                                    std::unique_ptr<Consumer> consumer) {
  if (!outcomes_.begin(id, stream)) return std::make_shared<RepeatedUpload>();
  auto handler =
      std::make_shared<ReceivingStream>(ReceivingStream::Parts{loop_, workers_, outcomes_}, id,
                                        std::move(stream), std::move(consumer));
  handler->start();
  return handler;
}

std::shared_ptr<StreamHandler> FileService::read(const wire::ReadRequest& request,
                                                 StreamRef stream) {
  return send(std::move(stream), request.credit, std::make_unique<FileReading>(files_, request));
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
  return receive(id, std::move(stream), std::make_unique<FileWriting>(files_, request));
}

}  // namespace cove::agent

// The requests of wire/file_request.hpp: who serves which, and those that change names and texts.
#include <utility>

#include "agent/files/line_reader.hpp"
#include "agent/server/file_producers.hpp"
#include "agent/server/file_service.hpp"
#include "agent/server/receiving_stream.hpp"
#include "agent/server/sending_stream.hpp"
#include "agent/trees/tree_copy.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"

namespace cove::agent {
namespace {

Answer info_answer(const Result<FileInfo>& info) {
  if (!info) return {true, wire::encode_error(info.error())};
  return {false, wire::encode_file_info(*info)};
}

/// Edits whose texts come as data.
class Editing final : public Consumer {
 public:
  Editing(const Files& files, wire::EditRequest request)
      : files_(files), request_(std::move(request)) {}

  Result<void> begin() override {
    if (wire::edit_bytes(request_.edits)) return ok();
    return Error(ErrorCode::kTooLarge,
                 "the texts of the edits have more than 16 MiB; write the whole file instead");
  }
  Result<void> take(ByteView bytes) override {
    if (texts_.size() + bytes.size() > *wire::edit_bytes(request_.edits)) {
      return Error(ErrorCode::kInvalidArgument, "more text came than the edits announced");
    }
    texts_.insert(texts_.end(), bytes.begin(), bytes.end());
    return ok();
  }
  Result<Bytes> commit() override {
    COVE_TRY(const auto edits, wire::unpack_edits(request_.edits, texts_));
    COVE_TRY(const EditResult result, files_.edit(request_.path, edits, request_.options));
    return wire::encode_edit_result(result);
  }

 private:
  const Files& files_;
  wire::EditRequest request_;
  Bytes texts_;
};

}  // namespace

/// A copy that is made in short units of work. It goes on when its connection ends, as every change
/// does; a cancel takes it back.
class FileService::CopyStream final : public StreamHandler,
                                      public std::enable_shared_from_this<CopyStream> {
 public:
  CopyStream(FileService& service, const wire::RequestId& id) : service_(service), id_(id) {}

  void open(const wire::CopyRequest& request) {
    submit([request](CopyStream& self) -> Result<bool> {
      COVE_TRY(self.copy_, self.service_.files_of(request.from)
                               .begin_copy(request.from, request.to, request.options));
      return false;
    });
  }
  void on_cancel(const wire::Cancel&) override { cancelled_ = true; }

 private:
  using Step = std::function<Result<bool>(CopyStream&)>;

  void submit(Step step) {
    service_.workers_.submit(
        [self = shared_from_this(), step = std::move(step)]() -> WorkQueue::Finish {
          auto done = step(*self);
          if (!done || *done) self->let_go();
          return [self, done = std::move(done)] { self->on_step(done); };
        });
  }

  void on_step(const Result<bool>& done) {
    if (!done) return service_.outcomes_.abandon(id_, done.error());
    if (*done) {
      return service_.outcomes_.finish(id_, {false, wire::encode_tree_counts(counts_)});
    }
    if (!cancelled_) return submit([](CopyStream& self) { return self.copy_->step(); });
    submit([](CopyStream&) -> Result<bool> {
      return Error(ErrorCode::kCancelled, "the call was cancelled");
    });
  }

  /// On a worker: what an unfinished copy made is removed here.
  void let_go() {
    if (copy_) counts_ = copy_->counts();
    copy_.reset();
  }

  FileService& service_;
  wire::RequestId id_;
  std::unique_ptr<TreeCopy> copy_;
  TreeCounts counts_;
  bool cancelled_ = false;
};

std::shared_ptr<StreamHandler> FileService::copy(const wire::RequestId& id,
                                                 const wire::CopyRequest& request,
                                                 const StreamRef& stream) {
  if (!outcomes_.begin(id, stream)) return nullptr;
  auto handler = std::make_shared<CopyStream>(*this, id);
  handler->open(request);
  return handler;
}

struct FileService::Serve {
  FileService& service;
  const wire::RequestId& id;
  StreamRef& stream;
  using Handler = std::shared_ptr<StreamHandler>;

  Handler operator()(const wire::ReadLinesRequest& request) const {
    return service.send(stream, request.credit,
                        make_lines(service.files_of(request.path), request));
  }
  Handler operator()(const wire::EditRequest& request) const {
    return service.receive(id, stream,
                           std::make_unique<Editing>(service.files_of(request.path), request));
  }
  Handler operator()(const wire::MoveRequest& request) const {
    service.change(id, stream, [&files = service.files_of(request.from), request] {
      return info_answer(files.move(request.from, request.to, request.options));
    });
    return nullptr;
  }
  Handler operator()(const wire::CopyRequest& request) const {
    return service.copy(id, request, stream);
  }
  Handler operator()(const wire::SetModeRequest& request) const {
    service.change(id, stream, [&files = service.files_of(request.path), request] {
      return info_answer(files.set_mode(request.path, request.mode));
    });
    return nullptr;
  }
  Handler operator()(const wire::MakeSymlinkRequest& request) const {
    service.change(id, stream, [&files = service.files_of(request.path), request] {
      return info_answer(files.make_symlink(request.path, request.target));
    });
    return nullptr;
  }
  Handler operator()(const wire::TreeOutRequest& request) const {
    return service.send(stream, request.credit,
                        make_tree_out(service.files_of(request.path), request));
  }
  Handler operator()(const wire::TreeInRequest& request) const {
    return service.receive(id, stream, make_tree_in(service.files_of(request.path), request));
  }
  Handler operator()(const wire::WatchRequest& request) const {
    return service.watch(request, stream);
  }
};

std::shared_ptr<StreamHandler> FileService::serve(const wire::RequestId& id,
                                                  const wire::FileRequest& request,
                                                  StreamRef stream) {
  return std::visit(Serve{*this, id, stream}, request.body);
}

}  // namespace cove::agent

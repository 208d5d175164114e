// Transfers with callbacks: downloads that pause, uploads that are given their pieces.
#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>

#include <cove/sandbox_files.hpp>

#include "client/exec_steering.hpp"
#include "client/file_calls.hpp"
#include "client/host_calls.hpp"
#include "client/offered_source.hpp"
#include "client/sandbox_reach.hpp"

namespace cove {

using Reach = std::shared_ptr<const SandboxFiles::Reach>;

class DownloadHandle::Impl : public client::ExecSteering {};

void DownloadHandle::resume() const { impl_->resume(); }
void DownloadHandle::cancel() const { impl_->cancel(); }

class UploadHandle::Impl {
 public:
  explicit Impl(std::shared_ptr<client::GuestLink> its_link)
      : link(std::move(its_link)), source(std::make_shared<client::OfferedSource>(link)) {}

  /// After `finish` it goes on; before, nobody can give it the rest.
  ~Impl() {
    if (!is_finished) steering->let_go();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<client::GuestLink> link;
  const std::shared_ptr<client::OfferedSource> source;
  const std::shared_ptr<client::ExecSteering> steering = std::make_shared<client::ExecSteering>();
  std::atomic<bool> is_finished{false};
};

Result<void> UploadHandle::write(ByteView piece, const CallContext& call) const {
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return impl_->source->offer(Bytes(piece.begin(), piece.end()), inner);
  });
}

void UploadHandle::write_async(Bytes piece, CallContext call,
                               std::function<void(Result<void> result)> done) const {
  client::run_async<void>(
      impl_->link, call,
      [source = impl_->source, piece = std::move(piece)](const CallContext& inner) mutable {
        return source->offer(std::move(piece), inner);
      },
      std::move(done));
}

namespace {

Task<Result<void>> finish_source(std::shared_ptr<client::OfferedSource> source) {
  source->finish();
  co_return ok();
}

/// What a download with callbacks keeps while it runs.
struct AsyncDownload {
  Reach reach;
  GuestPath path;
  DownloadCallbacks callbacks;  ///< but for on_done
  std::shared_ptr<client::ExecSteering> steering;
  std::stop_token callers_stop;
};

Result<void> tell(const AsyncDownload& download, std::uint64_t done,
                  std::optional<std::uint64_t> total) {
  return client::call_host<void>("the progress callback", [&] {
    if (download.callbacks.on_progress) download.callbacks.on_progress(done, total);
    return ok();
  });
}

Task<Result<void>> pour(const AsyncDownload& download, ByteSource& source,
                        std::optional<std::uint64_t> total, const CallContext& call) {
  Scheduler& scheduler = download.reach->link->scheduler();
  std::uint64_t done = 0;
  COVE_CO_TRY_VOID(tell(download, done, total));
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source.next(call));
    if (piece.empty()) co_return ok();
    done += piece.size();
    download.steering->expect_resume();
    COVE_CO_TRY(const Flow flow, client::call_host<Flow>(
                                     "the callback", download.callbacks.on_piece, ByteView(piece)));
    COVE_CO_TRY_VOID(tell(download, done, total));
    if (flow == Flow::kContinue) continue;
    COVE_CO_TRY_VOID(co_await download.steering->wait_resumed(scheduler, call));
  }
}

Task<Result<void>> pour_file(const AsyncDownload& download, const CallContext& call) {
  client::OpenCall opening{download.path, {}};
  COVE_CO_TRY(const GuestFile file,
              co_await client::ask_call(*download.reach->link, std::move(opening), call));
  co_return co_await pour(download, *file.content, file.length, call);
}

Task<Result<void>> pour_tree(const AsyncDownload& download, const CallContext& call) {
  client::OpenTreeCall opening{download.path};
  COVE_CO_TRY(const auto tree,
              co_await client::ask_call(*download.reach->link, std::move(opening), call));
  co_return co_await pour(download, *tree, std::nullopt, call);
}

using PourForm = Task<Result<void>> (*)(const AsyncDownload&, const CallContext&);

Task<Result<void>> run_download(std::shared_ptr<const AsyncDownload> download, PourForm form,
                                const CallContext& call) {
  // The handle's stop ends the call; the caller's own is passed on to it.
  const std::stop_callback pass_on(download->callers_stop,
                                   [steering = download->steering] { steering->cancel(); });
  if (!download->callbacks.on_piece) {
    co_return Error(ErrorCode::kInvalidArgument, "a download needs an on_piece");
  }
  co_return co_await form(*download, call);
}

void begin_download(std::shared_ptr<const AsyncDownload> download, PourForm form,
                    const CallContext& call, std::function<void(Result<void>)> on_done) {
  const CallContext steered = call.ended_by(download->steering->stop_token());
  const std::shared_ptr<client::GuestLink> link = download->reach->link;
  client::run_async<void>(
      link, steered,
      [download = std::move(download), form](const CallContext& inner) {
        return run_download(download, form, inner);
      },
      std::move(on_done));
}

/// Tells those who offer pieces that the upload is over, however it ends.
class EndOfOffers {
 public:
  explicit EndOfOffers(client::OfferedSource& source) : source_(source) {}
  ~EndOfOffers() { source_.end(); }
  EndOfOffers(const EndOfOffers&) = delete;
  EndOfOffers& operator=(const EndOfOffers&) = delete;

 private:
  client::OfferedSource& source_;
};

/// What an upload keeps while it runs; not the handle, whose end ends it.
struct AsyncUpload {
  std::shared_ptr<client::GuestLink> link;
  std::shared_ptr<client::OfferedSource> source;
  std::shared_ptr<client::ExecSteering> steering;
  std::stop_token callers_stop;
};

template <class FileCall>
Task<Result<typename FileCall::Value>> run_upload(std::shared_ptr<const AsyncUpload> upload,
                                                  FileCall file_call, const CallContext& call) {
  const EndOfOffers end(*upload->source);
  const std::stop_callback pass_on(upload->callers_stop,
                                   [steering = upload->steering] { steering->cancel(); });
  co_return co_await client::ask_call(*upload->link, std::move(file_call), call);
}

template <class FileCall>
void begin_upload(std::shared_ptr<const AsyncUpload> upload, FileCall file_call,
                  const CallContext& call,
                  std::function<void(Result<typename FileCall::Value>)> done) {
  const CallContext steered = call.ended_by(upload->steering->stop_token());
  const std::shared_ptr<client::GuestLink> link = upload->link;
  client::run_async<typename FileCall::Value>(
      link, steered,
      [upload = std::move(upload), file_call = std::move(file_call)](const CallContext& inner) {
        return run_upload(upload, file_call, inner);
      },
      std::move(done));
}

}  // namespace

void UploadHandle::finish() const {
  if (impl_->is_finished.exchange(true)) return;
  client::run_async<void>(
      impl_->link, {},
      [source = impl_->source](const CallContext& /*inner*/) { return finish_source(source); },
      nullptr);
}

void UploadHandle::cancel() const { impl_->steering->cancel(); }

DownloadHandle SandboxFiles::download_async(std::string path, DownloadCallbacks callbacks,
                                            CallContext call) const {
  auto handle = std::make_shared<DownloadHandle::Impl>();
  auto on_done = std::move(callbacks.on_done);
  auto download = std::make_shared<const AsyncDownload>(
      AsyncDownload{reach_, reach_->at(std::move(path)), std::move(callbacks), handle, call.stop});
  begin_download(std::move(download), pour_file, call, std::move(on_done));
  return DownloadHandle(std::move(handle));
}

DownloadHandle SandboxFiles::download_tree_async(std::string path, DownloadCallbacks callbacks,
                                                 CallContext call) const {
  auto handle = std::make_shared<DownloadHandle::Impl>();
  auto on_done = std::move(callbacks.on_done);
  auto download = std::make_shared<const AsyncDownload>(
      AsyncDownload{reach_, reach_->at(std::move(path)), std::move(callbacks), handle, call.stop});
  begin_download(std::move(download), pour_tree, call, std::move(on_done));
  return DownloadHandle(std::move(handle));
}

UploadHandle SandboxFiles::upload_async(std::string path, WriteOptions options, Done<FileInfo> done,
                                        CallContext call) const {
  auto handle = std::make_shared<UploadHandle::Impl>(reach_->link);
  auto upload = std::make_shared<const AsyncUpload>(
      AsyncUpload{handle->link, handle->source, handle->steering, call.stop});
  client::UploadCall file_call{reach_->at(std::move(path)), std::move(options),
                               handle->source.get()};
  begin_upload(std::move(upload), std::move(file_call), call, std::move(done));
  return UploadHandle(std::move(handle));
}

UploadHandle SandboxFiles::upload_tree_async(std::string path, Done<TreeCounts> done,
                                             CallContext call) const {
  auto handle = std::make_shared<UploadHandle::Impl>(reach_->link);
  auto upload = std::make_shared<const AsyncUpload>(
      AsyncUpload{handle->link, handle->source, handle->steering, call.stop});
  client::WriteTreeCall file_call{reach_->at(std::move(path)), handle->source.get()};
  begin_upload(std::move(upload), std::move(file_call), call, std::move(done));
  return UploadHandle(std::move(handle));
}

}  // namespace cove

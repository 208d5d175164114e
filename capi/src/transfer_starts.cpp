/// Transfers that are driven by callbacks: downloads that pause, uploads that are given pieces.
#include "file_calls.hpp"
#include "followed.hpp"
#include "progress.hpp"

using namespace cove;

namespace cove::capi {
namespace {

using DownloadForm = DownloadHandle (SandboxFiles::*)(std::string, DownloadCallbacks,
                                                      CallContext) const;

DownloadCallbacks callbacks_for(const std::shared_ptr<Reply<void>>& reply,
                                const cove_piece_callbacks& heard) {
  DownloadCallbacks callbacks;
  callbacks.on_piece = [reply, take = heard.on_piece](ByteView piece) {
    const CallbackScope scope;
    const bool pauses = take(reply->user_data(), piece.data(), piece.size()) == COVE_PAUSE;
    return pauses ? Flow::kPause : Flow::kContinue;
  };
  if (heard.on_progress != nullptr) {
    callbacks.on_progress = [reply, tell = progress_of(heard.on_progress, reply->user_data())](
                                std::uint64_t done, std::optional<std::uint64_t> total) {
      const CallbackScope scope;
      tell(done, total);
    };
  }
  callbacks.on_done = answer(reply);
  return callbacks;
}

/// cove_workspace_download_start and _download_tree_start, which differ in the member they call.
cove_status download_start_by(DownloadForm form, cove_workspace* workspace, const char* path,
                              const cove_piece_callbacks* callbacks,
                              const cove_call_options* options, cove_download** out_download,
                              cove_error** out_error) noexcept {
  return followed_call<void>(
      workspace, callbacks, out_download, "out_download", out_error,
      [&](cove_workspace& handle, const cove_piece_callbacks& heard,
          const std::shared_ptr<Reply<void>>& reply) -> Result<DownloadHandle> {
        COVE_TRY_VOID(require(reinterpret_cast<const void*>(heard.on_piece), "on_piece"));
        COVE_TRY(auto file, read_path(path));
        COVE_TRY(auto call, read_call(options));
        return (handle.client.*form)(std::move(file), callbacks_for(reply, heard), std::move(call));
      });
}

/// The body of both starts of an upload: begin(workspace, reply) gives the facade's handle.
template <class Out, class Begin>
cove_status upload_start_by(cove_workspace* workspace, typename Reply<Out>::Function done,
                            void* user_data, cove_drop_fn drop, cove_upload** out_upload,
                            cove_error** out_error, Begin&& begin) noexcept {
  if (out_upload != nullptr) *out_upload = nullptr;
  return starting_call<Out>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& used, const std::shared_ptr<Reply<Out>>& reply) -> Result<void> {
        COVE_TRY_VOID(require(out_upload, "out_upload"));
        // Made before: once the upload goes on, nothing may fail any more.
        auto handle = std::make_unique<cove_upload>();
        handle->library = used.library;
        COVE_TRY(handle->handle, begin(used, reply));
        *out_upload = handle.release();
        return ok();
      });
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

cove_status cove_workspace_download_start(cove_workspace* workspace, const char* path,
                                          const cove_piece_callbacks* callbacks,
                                          const cove_call_options* options,
                                          cove_download** out_download, cove_error** out_error) {
  return download_start_by(&SandboxFiles::download_async, workspace, path, callbacks, options,
                           out_download, out_error);
}

cove_status cove_workspace_download_tree_start(cove_workspace* workspace, const char* path,
                                               const cove_piece_callbacks* callbacks,
                                               const cove_call_options* options,
                                               cove_download** out_download,
                                               cove_error** out_error) {
  return download_start_by(&SandboxFiles::download_tree_async, workspace, path, callbacks, options,
                           out_download, out_error);
}

void cove_download_resume(cove_download* download) { steer(download, &DownloadHandle::resume); }

void cove_download_cancel(cove_download* download) { steer(download, &DownloadHandle::cancel); }

void cove_download_free(cove_download* download) { free_handle(download); }

cove_status cove_workspace_upload_start(cove_workspace* workspace, const char* path,
                                        const cove_write_options* options, cove_file_info_fn done,
                                        void* user_data, cove_drop_fn drop,
                                        cove_upload** out_upload, cove_error** out_error) {
  return upload_start_by<cove_file_info>(
      workspace, done, user_data, drop, out_upload, out_error,
      [&](cove_workspace& used, const auto& reply) -> Result<UploadHandle> {
        COVE_TRY(auto file, read_path(path));
        COVE_TRY(auto write, read_write(options));
        return used.client.upload_async(std::move(file), std::move(write.options),
                                        answer<FileInfo>(reply, info_made), std::move(write.call));
      });
}

cove_status cove_workspace_upload_tree_start(cove_workspace* workspace, const char* path,
                                             const cove_call_options* options,
                                             cove_tree_counts_fn done, void* user_data,
                                             cove_drop_fn drop, cove_upload** out_upload,
                                             cove_error** out_error) {
  return upload_start_by<cove_tree_counts>(
      workspace, done, user_data, drop, out_upload, out_error,
      [&](cove_workspace& used, const auto& reply) -> Result<UploadHandle> {
        COVE_TRY(auto directory, read_path(path));
        COVE_TRY(auto call, read_call(options));
        return used.client.upload_tree_async(
            std::move(directory), answer<TreeCounts>(reply, counts_made), std::move(call));
      });
}

cove_status cove_upload_write(cove_upload* upload, const void* data, size_t size,
                              const cove_call_options* options, cove_error** out_error) {
  return waiting_call(upload, "upload", out_error, [&](cove_upload& given) -> Result<void> {
    COVE_TRY(const auto piece, read_data(data, size));
    COVE_TRY(const auto call, read_call(options));
    return given.handle->write(piece, call);
  });
}

cove_status cove_upload_write_start(cove_upload* upload, const void* data, size_t size,
                                    const cove_call_options* options, cove_done_fn done,
                                    void* user_data, cove_drop_fn drop, cove_error** out_error) {
  return starting_call<void>(upload, "upload", out_error, done, user_data, drop,
                             [&](cove_upload& given, const auto& reply) -> Result<void> {
                               COVE_TRY(const auto piece, read_data(data, size));
                               COVE_TRY(auto call, read_call(options));
                               given.handle->write_async(Bytes(piece.begin(), piece.end()),
                                                         std::move(call), answer(reply));
                               return ok();
                             });
}

void cove_upload_finish(cove_upload* upload) { steer(upload, &UploadHandle::finish); }

void cove_upload_cancel(cove_upload* upload) { steer(upload, &UploadHandle::cancel); }

void cove_upload_free(cove_upload* upload) { free_handle(upload); }

}  // extern "C"

/// Files and trees of any size, piece by piece, by functions of the host on the calling thread.
/// These may wait for Cove: unlike callbacks they are not on its thread.
#include "file_calls.hpp"
#include "progress.hpp"

using namespace cove;

namespace cove::capi {
namespace {

/// What an upload asks for at once.
constexpr std::size_t kPieceBytes = 256U << 10U;

/// What a function of the host answered, as a result of the call.
Result<void> result_of(cove_status status, const char* who) {
  if (status == COVE_OK) return ok();
  if (status < COVE_INVALID_ARGUMENT || status > COVE_INTERNAL) {
    return Error(ErrorCode::kInternal, std::string("the application's ") + who + " answered " +
                                           std::to_string(status) + ", which is no status");
  }
  return Error(static_cast<ErrorCode>(status),
               std::string("the application's ") + who + " ended the transfer");
}

struct Outlet {
  ByteSink sink;
  Progress progress;
};

Result<Outlet> read_outlet(const cove_download_callbacks* callbacks) {
  COVE_TRY_VOID(require(callbacks, "callbacks"));
  COVE_TRY(const auto read, read_options(callbacks));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_download_callbacks.reserved0"));
  COVE_TRY_VOID(require(reinterpret_cast<const void*>(read.on_piece), "on_piece"));
  Outlet outlet;
  outlet.sink = [take = read.on_piece, user_data = read.user_data](ByteView piece) {
    return result_of(take(user_data, piece.data(), piece.size()), "on_piece");
  };
  outlet.progress = progress_of(read.on_progress, read.user_data);
  return outlet;
}

struct Inlet {
  ByteFeed source;
  Progress progress;
};

Result<Bytes> ask_piece(cove_feed_fn give, void* user_data) {
  Bytes piece(kPieceBytes);
  std::size_t size = 0;
  COVE_TRY_VOID(result_of(give(user_data, piece.data(), piece.size(), &size), "next_piece"));
  if (size > piece.size()) {
    return Error(ErrorCode::kInvalidArgument, "next_piece gave " + std::to_string(size) +
                                                  " bytes, and " + std::to_string(piece.size()) +
                                                  " were asked for");
  }
  piece.resize(size);
  return piece;
}

Result<Inlet> read_inlet(const cove_upload_callbacks* callbacks) {
  COVE_TRY_VOID(require(callbacks, "callbacks"));
  COVE_TRY(const auto read, read_options(callbacks));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_upload_callbacks.reserved0"));
  COVE_TRY_VOID(require(reinterpret_cast<const void*>(read.next_piece), "next_piece"));
  Inlet inlet;
  inlet.source = [give = read.next_piece, user_data = read.user_data] {
    return ask_piece(give, user_data);
  };
  inlet.progress = progress_of(read.on_progress, read.user_data);
  return inlet;
}

using DownloadForm = Result<void> (SandboxFiles::*)(const std::string&, const ByteSink&,
                                                    const CallContext&, const Progress&) const;

/// cove_workspace_download and cove_workspace_download_tree, which differ in the member they call.
cove_status download_by(DownloadForm form, cove_workspace* workspace, const char* path,
                        const cove_download_callbacks* callbacks, const cove_call_options* options,
                        cove_error** out_error) noexcept {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY(const auto file, read_path(path));
                        COVE_TRY(const auto outlet, read_outlet(callbacks));
                        COVE_TRY(const auto call, read_call(options));
                        return (handle.client.*form)(file, outlet.sink, call, outlet.progress);
                      });
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

cove_status cove_workspace_download(cove_workspace* workspace, const char* path,
                                    const cove_download_callbacks* callbacks,
                                    const cove_call_options* options, cove_error** out_error) {
  return download_by(&SandboxFiles::download, workspace, path, callbacks, options, out_error);
}

cove_status cove_workspace_download_tree(cove_workspace* workspace, const char* path,
                                         const cove_download_callbacks* callbacks,
                                         const cove_call_options* options, cove_error** out_error) {
  return download_by(&SandboxFiles::download_tree, workspace, path, callbacks, options, out_error);
}

cove_status cove_workspace_upload(cove_workspace* workspace, const char* path,
                                  const cove_upload_callbacks* callbacks,
                                  const cove_write_options* options, cove_file_info** out_info,
                                  cove_error** out_error) {
  return give_wanted(
      workspace, out_info, out_error, [&](const SandboxClient& client) -> Result<FileInfo> {
        COVE_TRY(const auto file, read_path(path));
        COVE_TRY(const auto inlet, read_inlet(callbacks));
        COVE_TRY(const auto write, read_write(options));
        return client.upload(file, inlet.source, write.options, write.call, inlet.progress);
      });
}

cove_status cove_workspace_upload_tree(cove_workspace* workspace, const char* path,
                                       const cove_upload_callbacks* callbacks,
                                       const cove_call_options* options,
                                       cove_tree_counts** out_counts, cove_error** out_error) {
  return give_wanted(workspace, out_counts, out_error,
                     [&](const SandboxClient& client) -> Result<TreeCounts> {
                       COVE_TRY(const auto directory, read_path(path));
                       COVE_TRY(const auto inlet, read_inlet(callbacks));
                       COVE_TRY(const auto call, read_call(options));
                       return client.upload_tree(directory, inlet.source, call, inlet.progress);
                     });
}

}  // extern "C"

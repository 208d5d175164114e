#include <stop_token>
#include <utility>

#include <cove/sandbox_files.hpp>

#include "client/file_calls.hpp"
#include "client/reach_calls.hpp"
#include "client/transfer.hpp"

namespace cove {
namespace {

using Reach = std::shared_ptr<const SandboxFiles::Reach>;

/// What a watch with callbacks keeps while it runs.
struct AsyncWatch {
  Reach reach;
  GuestPath path;
  WatchOptions options;
  std::function<void(std::vector<FileEvent>)> on_events;
  std::shared_ptr<std::stop_source> stop;
  std::stop_token callers_stop;
};

Task<Result<void>> run_async_watch(const AsyncWatch& watch, const CallContext& call) {
  // The handle's stop ends the call; the caller's own is passed on to it.
  const std::stop_callback pass_on(watch.callers_stop,
                                   [stop = watch.stop] { stop->request_stop(); });
  co_return co_await client::run_watch(*watch.reach->link, watch.path, watch.options,
                                       watch.on_events, call);
}

}  // namespace

class WatchHandle::Impl {
 public:
  std::shared_ptr<std::stop_source> stop = std::make_shared<std::stop_source>();
};

void WatchHandle::cancel() const { impl_->stop->request_stop(); }

Result<Bytes> SandboxFiles::read_file(const std::string& path, const ReadRange& range,
                                      const CallContext& call) const {
  COVE_TRY(FileContent content, read(path, range, call));
  return std::move(content.bytes);
}

Result<FileContent> SandboxFiles::read(const std::string& path, const ReadRange& range,
                                       const CallContext& call) const {
  return client::wait_for(*reach_, client::ReadCall{reach_->at(path), range}, call);
}

Result<LineSlice> SandboxFiles::read_lines(const std::string& path, const LineRange& range,
                                           const CallContext& call) const {
  return client::wait_for(*reach_, client::ReadLinesCall{reach_->at(path), range}, call);
}

Result<FileInfo> SandboxFiles::write_file(const std::string& path, ByteView content,
                                          const WriteOptions& options,
                                          const CallContext& call) const {
  return client::wait_for(*reach_, client::WriteCall{reach_->at(path), content, options}, call);
}

Result<EditResult> SandboxFiles::edit_file(const std::string& path, const std::vector<Edit>& edits,
                                           const EditOptions& options,
                                           const CallContext& call) const {
  return client::wait_for(*reach_, client::EditCall{reach_->at(path), edits, options}, call);
}

Result<std::vector<Result<EditResult>>> SandboxFiles::edit_files(const std::vector<FileEdit>& edits,
                                                                 const CallContext& call) const {
  return client::run_blocking(*reach_->link, call, [&](const CallContext& inner) {
    return client::edit_many(*reach_->link, reach_->session, edits, inner);
  });
}

Result<FileInfo> SandboxFiles::stat(const std::string& path, const CallContext& call) const {
  return client::wait_for(*reach_, client::StatCall{reach_->at(path)}, call);
}

Result<FilePage> SandboxFiles::list(const std::string& path, const ListOptions& options,
                                    const CallContext& call) const {
  return client::wait_for(*reach_, client::ListCall{reach_->at(path), options}, call);
}

Result<void> SandboxFiles::make_directory(const std::string& path, const CallContext& call) const {
  return client::wait_for(*reach_, client::MakeDirectoryCall{reach_->at(path)}, call);
}

Result<void> SandboxFiles::remove(const std::string& path, bool recursive,
                                  const CallContext& call) const {
  return client::wait_for(*reach_, client::RemoveCall{reach_->at(path), recursive}, call);
}

Result<FileInfo> SandboxFiles::move(const std::string& from, const std::string& to,
                                    const MoveOptions& options, const CallContext& call) const {
  return client::wait_for(*reach_, client::MoveCall{reach_->at(from), reach_->at(to), options},
                          call);
}

Result<TreeCounts> SandboxFiles::copy(const std::string& from, const std::string& to,
                                      const CopyOptions& options, const CallContext& call) const {
  return client::wait_for(*reach_, client::CopyCall{reach_->at(from), reach_->at(to), options},
                          call);
}

Result<FileInfo> SandboxFiles::set_mode(const std::string& path, std::uint32_t mode,
                                        const CallContext& call) const {
  return client::wait_for(*reach_, client::SetModeCall{reach_->at(path), mode}, call);
}

Result<FileInfo> SandboxFiles::make_symlink(const std::string& path, const std::string& target,
                                            const CallContext& call) const {
  return client::wait_for(*reach_, client::MakeSymlinkCall{reach_->at(path), target}, call);
}

Result<void> SandboxFiles::download(const std::string& path, const ByteSink& sink,
                                    const CallContext& call, const Progress& progress) const {
  return client::download_file(*reach_->link, reach_->at(path), {sink, progress}, call);
}

Result<FileInfo> SandboxFiles::upload(const std::string& path, const ByteFeed& source,
                                      const WriteOptions& options, const CallContext& call,
                                      const Progress& progress) const {
  return client::upload_file(*reach_->link, reach_->at(path), {source, progress}, options, call);
}

Result<void> SandboxFiles::download_tree(const std::string& path, const ByteSink& sink,
                                         const CallContext& call, const Progress& progress) const {
  return client::download_tree(*reach_->link, reach_->at(path), {sink, progress}, call);
}

Result<TreeCounts> SandboxFiles::upload_tree(const std::string& path, const ByteFeed& source,
                                             const CallContext& call,
                                             const Progress& progress) const {
  return client::upload_tree(*reach_->link, reach_->at(path), {source, progress}, call);
}

Result<void> SandboxFiles::watch(const std::string& path, const WatchOptions& options,
                                 const std::function<bool(const FileEvent&)>& on_event,
                                 const CallContext& call) const {
  return client::follow_watch(*reach_->link, reach_->at(path), options, on_event, call);
}

void SandboxFiles::read_file_async(std::string path, ReadRange range, CallContext call,
                                   Done<Bytes> done) const {
  read_async(std::move(path), range, std::move(call),
             [done = std::move(done)](Result<FileContent> content) {
               if (!done) return;
               if (content) return done(std::move(content->bytes));
               done(content.error());
             });
}

void SandboxFiles::read_async(std::string path, ReadRange range, CallContext call,
                              Done<FileContent> done) const {
  client::begin(reach_, client::ReadCall{reach_->at(std::move(path)), range}, call,
                std::move(done));
}

void SandboxFiles::read_lines_async(std::string path, LineRange range, CallContext call,
                                    Done<LineSlice> done) const {
  client::begin(reach_, client::ReadLinesCall{reach_->at(std::move(path)), range}, call,
                std::move(done));
}

void SandboxFiles::write_file_async(std::string path, Bytes content, WriteOptions options,
                                    CallContext call, Done<FileInfo> done) const {
  client::WriteOwnCall write{reach_->at(std::move(path)), std::move(content), std::move(options)};
  client::begin(reach_, std::move(write), call, std::move(done));
}

void SandboxFiles::edit_file_async(std::string path, std::vector<Edit> edits, EditOptions options,
                                   CallContext call, Done<EditResult> done) const {
  client::EditCall edit{reach_->at(std::move(path)), std::move(edits), std::move(options)};
  client::begin(reach_, std::move(edit), call, std::move(done));
}

void SandboxFiles::edit_files_async(std::vector<FileEdit> edits, CallContext call,
                                    Done<std::vector<Result<EditResult>>> done) const {
  client::run_async<std::vector<Result<EditResult>>>(
      reach_->link, call,
      [reach = reach_, edits = std::move(edits)](const CallContext& inner) {
        return client::edit_many(*reach->link, reach->session, edits, inner);
      },
      std::move(done));
}

void SandboxFiles::stat_async(std::string path, CallContext call, Done<FileInfo> done) const {
  client::begin(reach_, client::StatCall{reach_->at(std::move(path))}, call, std::move(done));
}

void SandboxFiles::list_async(std::string path, ListOptions options, CallContext call,
                              Done<FilePage> done) const {
  client::ListCall list{reach_->at(std::move(path)), std::move(options)};
  client::begin(reach_, std::move(list), call, std::move(done));
}

void SandboxFiles::make_directory_async(std::string path, CallContext call, Done<void> done) const {
  client::begin(reach_, client::MakeDirectoryCall{reach_->at(std::move(path))}, call,
                std::move(done));
}

void SandboxFiles::remove_async(std::string path, bool recursive, CallContext call,
                                Done<void> done) const {
  client::RemoveCall removal{reach_->at(std::move(path)), recursive};
  client::begin(reach_, std::move(removal), call, std::move(done));
}

void SandboxFiles::move_async(std::string from, std::string to, MoveOptions options,
                              CallContext call, Done<FileInfo> done) const {
  client::MoveCall move{reach_->at(std::move(from)), reach_->at(std::move(to)), options};
  client::begin(reach_, std::move(move), call, std::move(done));
}

void SandboxFiles::copy_async(std::string from, std::string to, CopyOptions options,
                              CallContext call, Done<TreeCounts> done) const {
  client::CopyCall copy{reach_->at(std::move(from)), reach_->at(std::move(to)), options};
  client::begin(reach_, std::move(copy), call, std::move(done));
}

void SandboxFiles::set_mode_async(std::string path, std::uint32_t mode, CallContext call,
                                  Done<FileInfo> done) const {
  client::begin(reach_, client::SetModeCall{reach_->at(std::move(path)), mode}, call,
                std::move(done));
}

void SandboxFiles::make_symlink_async(std::string path, std::string target, CallContext call,
                                      Done<FileInfo> done) const {
  client::MakeSymlinkCall link{reach_->at(std::move(path)), std::move(target)};
  client::begin(reach_, std::move(link), call, std::move(done));
}

WatchHandle SandboxFiles::watch_async(std::string path, WatchOptions options,
                                      WatchCallbacks callbacks, CallContext call) const {
  auto handle = std::make_shared<WatchHandle::Impl>();
  auto watch = std::make_shared<AsyncWatch>(AsyncWatch{reach_, reach_->at(std::move(path)), options,
                                                       std::move(callbacks.on_events), handle->stop,
                                                       call.stop});
  const CallContext steered = call.ended_by(handle->stop->get_token());
  client::run_async<void>(
      reach_->link, steered,
      [watch = std::move(watch)](const CallContext& inner) {
        return run_async_watch(*watch, inner);
      },
      std::move(callbacks.on_done));
  return WatchHandle(std::move(handle));
}

}  // namespace cove
